import { NeovimRpc } from "../src/neovim/rpc";
import { BareServer } from "./bare-server";
import { Editor } from "./editor";
import files from "./files.lua" with { type: "text" };
import { quantile, repetitions, type Scenario, timings, type Values } from "./scenario";

/** Roughly the length of an answer with a thousand diagnostics. */
const DIAGNOSTICS_BYTES = 230_000;
const CALLS = 400;

/** The time from a request on the WebSocket to its answer. */
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
        ...(await trip("dirty", calls, both())),
        ...(await trip("editors", calls, both())),
        ...(await trip("diagnostics", calls, both(DIAGNOSTICS_BYTES))),
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
    const { tools } = await client.request<{ tools: { name: string }[] }>("tools/list");
    const call = async (id: string, tool: string, args = {}): Promise<Values> => {
      const isThere = tools.some(({ name }) => name === tool);
      return isThere ? trip(id, calls, () => client.call(tool, args)) : {};
    };
    await nvim.lua("FILES.diagnose(PATHS, 1000)");
    const ping = () => client.request("ping");
    // Not every plugin knows the method.
    const pings = await ping().then(
      () => trip("ping", calls, ping),
      () => ({}),
    );
    return {
      values: {
        ...pings,
        ...(await call("dirty", "checkDocumentDirty", { filePath: paths[0] })),
        ...(await call("editors", "getOpenEditors")),
        ...(await call("diagnostics", "getDiagnostics")),
      },
    };
  },
};

async function trip(id: string, count: number, work: () => Promise<unknown>): Promise<Values> {
  await timings(Math.ceil(count / 10), work);
  const samples = await timings(count, work);
  return { [`${id}-p50`]: quantile(samples, 0.5), [`${id}-p99`]: quantile(samples, 0.99) };
}
