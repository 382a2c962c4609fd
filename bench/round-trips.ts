import { NeovimRpc } from "../src/neovim/rpc";
import type { TestClient } from "../test/support/client";
import { BareServer } from "./bare-server";
import { Editor } from "./editor";
import files from "./files.lua" with { type: "text" };
import { RawClient } from "./raw-client";
import { repetitions, type Scenario, type Values } from "./scenario";
import { quantile, timings } from "./statistics";

/** Roughly what one diagnostic takes in an answer, in bytes. */
const DIAGNOSTIC_BYTES = 230;
const CALLS = 400;

/** From a request on the WebSocket to its answer. */
export const roundTrips: Scenario = {
  name: "round-trips",

  async floor(machine) {
    await using server = await BareServer.start(machine.bare);
    await using editor = await Editor.start(machine.nvim, undefined);
    const rpc = await NeovimRpc.connect(await editor.nvim.lua<string>("return vim.v.servername"));
    const calls = repetitions(machine, CALLS);
    const both = (bytes?: number) => async () => {
      await server.echo(bytes);
      await rpc.request("nvim_get_mode", []);
    };
    try {
      return {
        ...(await trip("ping", calls, () => server.echo())),
        ...(await trip("list", calls, () => server.echo())),
        ...(await trip("dirty", calls, both())),
        ...(await trip("editors", calls, both())),
        ...(await trip("diagnostics-one", calls, both())),
        ...(await trip("diagnostics-1000", calls, both(1000 * DIAGNOSTIC_BYTES))),
        ...(await trip("diagnostics-10000", calls / 8, both(10_000 * DIAGNOSTIC_BYTES))),
      };
    } finally {
      rpc.close();
    }
  },

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    const { nvim } = editor;
    await nvim.lua("FILES = loadstring(...)()", files);
    const paths = await nvim.lua<string[]>("PATHS = FILES.open(200); return PATHS");
    using client = await editor.setUp(subject);
    const calls = repetitions(machine, CALLS);
    const tools = await toolNames(client);
    using raw = await RawClient.open(await nvim.lock());
    const call = async (id: string, count: number, tool: string, args = {}): Promise<Values> =>
      tools.has(tool) ? trip(id, count, () => raw.call(tool, args)) : {};
    const values: Values = {
      ...((await answers(client, "ping")) &&
        (await trip("ping", calls, () => raw.request("ping")))),
      ...(await trip("list", calls, () => raw.request("tools/list"))),
      ...(await call("dirty", calls, "checkDocumentDirty", { filePath: paths[0] })),
      ...(await call("editors", calls, "getOpenEditors")),
    };
    await nvim.lua("FILES.diagnose_all(PATHS, 1000)");
    const one = { uri: `file://${paths[0]}` };
    Object.assign(values, await call("diagnostics-one", calls, "getDiagnostics", one));
    Object.assign(values, await call("diagnostics-1000", calls, "getDiagnostics"));
    await nvim.lua("FILES.diagnose_all(PATHS, 10000)");
    Object.assign(values, await call("diagnostics-10000", calls / 8, "getDiagnostics"));
    return { values };
  },
};

async function answers(client: TestClient, method: string): Promise<boolean> {
  return client.request(method).then(
    () => true,
    () => false,
  );
}

async function toolNames(client: TestClient): Promise<Set<string>> {
  const { tools } = await client.request<{ tools: { name: string }[] }>("tools/list");
  return new Set(tools.map((tool) => tool.name));
}

async function trip(id: string, count: number, work: () => Promise<unknown>): Promise<Values> {
  await timings(Math.ceil(count / 10), work);
  const samples = await timings(Math.ceil(count), work);
  return { [`${id}-p50`]: quantile(samples, 0.5), [`${id}-p99`]: quantile(samples, 0.99) };
}
