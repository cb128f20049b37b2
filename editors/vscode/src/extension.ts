// A thin client: everything is known to `xlamig server`, which this starts.
import * as vscode from "vscode";
import { LanguageClient, LanguageClientOptions, ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand("xlamig.restart", restart),
    vscode.commands.registerCommand("xlamig.fixAll", fixAll),
    vscode.commands.registerCommand("xlamig.ignoreWithReason", ignoreWithReason),
    vscode.workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("xlamig.command")) void restart();
    }),
  );
  await start();
}

export async function deactivate(): Promise<void> {
  await client?.stop();
}

async function start(): Promise<void> {
  const [command, ...words] = vscode.workspace.getConfiguration("xlamig").get<string[]>("command", ["xlamig"]);
  const cwd = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  const server: ServerOptions = { command, args: [...words, "server"], options: { cwd } };
  const options: LanguageClientOptions = {
    documentSelector: [{ scheme: "file", language: "python" }, { scheme: "file", pattern: "**/requirements*.txt" },
      { scheme: "file", language: "dockerfile" }],
    initializationOptions: vscode.workspace.getConfiguration("xlamig"),
    synchronize: { configurationSection: "xlamig" },
  };
  client = new LanguageClient("xlamig", "xlamig", server, options);
  try {
    await client.start();
  } catch (error) {
    const advice = "pip install 'xlamig[server]', or set xlamig.command";
    void vscode.window.showErrorMessage(`xlamig: \`${command}\` could not be started (${error}). ${advice}.`);
  }
}

async function restart(): Promise<void> {
  await client?.stop().catch(() => undefined);
  await start();
}

async function fixAll(): Promise<void> {
  await vscode.commands.executeCommand("editor.action.codeAction", { kind: "source.fixAll.xlamig", apply: "first" });
}

async function ignoreWithReason(): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  const row = editor.selection.active.line;
  const codes = vscode.languages
    .getDiagnostics(editor.document.uri)
    .filter((found) => found.source === "xlamig" && found.range.start.line <= row && row <= found.range.end.line)
    .map((found) => String(typeof found.code === "object" ? found.code.value : found.code));
  if (codes.length === 0) return void vscode.window.showInformationMessage("xlamig finds nothing on this line.");
  const reason = await vscode.window.showInputBox({ prompt: `Why may ${codes.join(", ")} stay here?` });
  if (reason === undefined) return;
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  const known = [...new Set(codes)];
  await client.sendRequest("workspace/executeCommand", {
    command: "xlamig.ignore", arguments: [uri, row + 1, known, reason],
  });
}
