import { join } from "node:path";
import type { TestClient } from "../../test/support/client";
import type { TestNeovim } from "../../test/support/neovim";
import type { Soaked } from "./soak";

/** The number of calls at once. */
const AT_ONCE = 20;

type Ask = (client: TestClient, path: string) => Promise<unknown>;

/** Requests of clients, valid and invalid. */
const ASKS: Ask[] = [
  (client) => client.request("ping"),
  (client) => client.request("tools/list"),
  (client) => client.call("getOpenEditors"),
  (client) => client.call("getDiagnostics"),
  (client, path) => client.call("getDiagnostics", { uri: `file://${path}` }),
  (client, path) => client.call("checkDocumentDirty", { filePath: path }),
  (client) => client.call("getCurrentSelection"),
  (client) => client.call("getLatestSelection"),
  (client) => client.call("getWorkspaceFolders"),
  (client, path) => client.call("openFile", { filePath: path, makeFrontmost: false }),
  (client, path) => client.call("openFile", { filePath: path, startText: "line" }),
  (client) => client.request("resources/list"),
  (client, path) => client.request("resources/read", { uri: `file://${path}` }),
  (client) => client.request("editor/context"),
  (client) => client.request("editor/buffers"),
  (client) => client.call("noSuchTool"),
  (client) => client.call("openFile", { filePath: 7 }),
  (client) => client.request("no/such/method"),
];

/** Makes `count` mixed calls, while diagnostics and files change. */
export async function callMixed({ neovim, client }: Soaked, count: number): Promise<void> {
  let asked = 0;
  const work = async () => {
    while (asked < count) {
      const i = asked++;
      if (i % 50 === 0) await stir(neovim, i);
      const ask = ASKS[i % ASKS.length] as Ask;
      // A refusal is also an answer.
      await ask(client, join(neovim.cwd, `file-${i % 10}.txt`)).catch(() => {});
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // Drop the received messages, which use the memory of the test.
  client.received.length = 0;
}

/** Changes the diagnostics of one file and the text of another, and leaves visual mode. */
async function stir(neovim: TestNeovim, i: number): Promise<void> {
  await neovim.type("<Esc>");
  await neovim.lua(STIR, i);
}

const STIR = `
  local i = ...
  local items = {}
  for n = 1, i % 20 + 1 do items[n] = { lnum = n, col = 0, message = "problem " .. i } end
  vim.diagnostic.set(vim.api.nvim_create_namespace("soak"), FILES[i % 10 + 1], items)
  local buf = FILES[(i + 5) % 10 + 1]
  vim.api.nvim_buf_set_lines(buf, 0, 1, false, { "line " .. i })
  if i % 200 == 0 then
    vim.api.nvim_buf_call(buf, function() vim.cmd("silent write!") end)
  end`;
