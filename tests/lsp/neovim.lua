-- Opens a file in Neovim with the server, prints its diagnostics and hover as JSON, and fixes all that is safe.
local root, file = os.getenv("XLAMIG_ROOT"), os.getenv("XLAMIG_FILE")
local command = vim.fn.json_decode(os.getenv("XLAMIG_SERVER"))
vim.cmd("edit " .. file)
local buffer = vim.api.nvim_get_current_buf()
local client = vim.lsp.start_client({
  name = "xlamig", cmd = command, root_dir = root,
  workspace_folders = { { uri = vim.uri_from_fname(root), name = "project" } },
  init_options = { debounce = 0 },
})
vim.lsp.buf_attach_client(buffer, client)

local function diagnostics(count)
  vim.wait(60000, function() return #vim.diagnostic.get(buffer) == count end, 50)
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    table.insert(found, { one.code, one.lnum, one.col })
  end
  return found
end

local function ask(method, params)
  local answers = vim.lsp.buf_request_sync(buffer, method, params, 60000) or {}
  return (answers[client] or {}).result
end

local seen = diagnostics(1)
local document = vim.lsp.util.make_text_document_params(buffer)
local hover = ask("textDocument/hover", { textDocument = document, position = { line = 2, character = 2 } })
local place = { start = { line = 0, character = 0 }, ["end"] = { line = 0, character = 0 } }
local context = { diagnostics = {}, only = { "source.fixAll" } }
local actions = ask("textDocument/codeAction", { textDocument = document, range = place, context = context })
local action = actions[1].edit and actions[1] or ask("codeAction/resolve", actions[1])
vim.lsp.util.apply_workspace_edit(action.edit, "utf-16")
local left = diagnostics(0)
local text = vim.api.nvim_buf_get_lines(buffer, 0, -1, true)
io.stdout:write(vim.fn.json_encode({ seen = seen, hover = hover.contents.value, left = left, text = text }))
vim.lsp.stop_client(client)
vim.cmd("qa!")
