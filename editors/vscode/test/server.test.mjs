// The protocol library that the extension bundles, against the real server; and the bundle with a stand-in for VS Code.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const require = createRequire(import.meta.url);
const { createProtocolConnection, StreamMessageReader, StreamMessageWriter } = require("vscode-languageserver-protocol/node");
const COMMAND = (process.env.XLAMIG ?? "xlamig").split(" ");
const CODE = "import torch\n\ntorch.cuda.synchronize()\n";

function project() {
  const folder = mkdtempSync(join(tmpdir(), "xlamig-"));
  writeFileSync(join(folder, "sync.py"), CODE);
  return folder;
}

test("the server answers the client that the extension bundles", { timeout: 120_000 }, async (t) => {
  const folder = project();
  const server = spawn(COMMAND[0], [...COMMAND.slice(1), "server"], { cwd: folder });
  t.after(() => server.kill());
  const connection = createProtocolConnection(new StreamMessageReader(server.stdout), new StreamMessageWriter(server.stdin));
  const published = new Promise((done) => {
    connection.onNotification("textDocument/publishDiagnostics", (found) => found.diagnostics.length && done(found));
  });
  connection.listen();
  const rootUri = pathToFileURL(folder).href;
  const workspaceFolders = [{ uri: rootUri, name: "project" }];
  const answer = await connection.sendRequest("initialize", { processId: process.pid, rootUri, workspaceFolders, capabilities: {} });
  assert.ok(answer.capabilities.codeActionProvider);
  await connection.sendNotification("initialized", {});
  const uri = pathToFileURL(join(folder, "sync.py")).href;
  await connection.sendNotification("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: 1, text: CODE } });
  const { diagnostics } = await published;
  assert.deepEqual(diagnostics.map((found) => [found.code, found.range.start.line]), [["XLA005", 2]], JSON.stringify(diagnostics));
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(await new Promise((done) => server.once("exit", done)), 0);
});

test("the bundle registers the commands that the manifest promises", async () => {
  const registered = [];
  const event = () => ({ dispose() {} });
  const anything = new Proxy(function () {}, { get: (_, key) => (key === "then" ? undefined : anything), apply: () => anything, construct: () => anything });
  const vscode = new Proxy({
    commands: { registerCommand: (name) => (registered.push(name), event()), executeCommand: async () => {} },
    workspace: new Proxy({ onDidChangeConfiguration: event, getConfiguration: () => ({ get: () => ["xlamig-is-not-here"] }), workspaceFolders: [] }, { get: (own, key) => own[key] ?? anything }),
  }, { get: (own, key) => own[key] ?? anything });
  const load = Module._load;
  Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
  try {
    const extension = require("../dist/extension.js");
    extension.activate({ subscriptions: [] }).catch(() => {});
  } finally {
    Module._load = load;
  }
  const promised = require("../package.json").contributes.commands.map((entry) => entry.command);
  assert.deepEqual(registered.sort(), promised.sort());
});
