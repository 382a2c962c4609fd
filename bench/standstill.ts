import { BareServer } from "./bare-server";
import { Editor, resident, type Standstill } from "./editor";
import files from "./files.lua" with { type: "text" };
import type { Scenario, Values } from "./scenario";

const TIMES = 20;
const BIG = "some text of a file, ".repeat(2_000_000 / 21);
/** The rest in ms before we read memory, so that the memory of the start is released. */
const REST_MS = 1_000;

/** The time in which Neovim cannot react while the server works, and the memory of both. */
export const standstill: Scenario = {
  name: "standstill",

  async floor(machine) {
    await using editor = await Editor.start(machine.nvim, undefined);
    await using server = await BareServer.start(machine.bare);
    await prepare(editor);
    await server.echo();
    await Bun.sleep(REST_MS);
    const memory = {
      "memory-server": resident(server.process.pid),
      "memory-editor": resident(editor.nvim.process.pid as number),
    };
    const messages = await editor.watched(() => repeat(() => server.take(BIG)));
    const idle = await editor.watched(() => Bun.sleep(messages.wall));
    return { ...figures("messages", messages, idle), ...memory };
  },

  async measure(machine, subject) {
    await using editor = await Editor.start(machine.nvim, subject);
    using client = await editor.setUp(subject);
    await prepare(editor);
    await Bun.sleep(REST_MS);
    const memory = () => ({
      editor: resident(editor.nvim.process.pid as number),
      server: editor.children().map(resident).at(0),
    });
    const before = memory();
    // A refusal is also an answer, since the server has read the message.
    const messages = await editor.watched(() =>
      repeat(() => client.request("ping", { text: BIG }).catch(() => {})),
    );
    const idle = await editor.watched(() => Bun.sleep(messages.wall));
    // All diagnostics are new, so the first answer must wait for them.
    const asked = await editor.watched(
      () => repeat(() => client.call("getDiagnostics")),
      "FILES.diagnose(PATHS, 10000)",
    );
    const alsoIdle = await editor.watched(() => Bun.sleep(asked.wall));
    await Bun.sleep(REST_MS);
    const after = memory();
    return {
      values: {
        ...figures("messages", messages, idle),
        ...figures("asked", asked, alsoIdle),
        "memory-editor": before.editor,
        "memory-editor-after": after.editor,
        ...(before.server && { "memory-server": before.server }),
        ...(after.server && { "memory-server-after": after.server }),
      },
      floors: figures("asked", alsoIdle),
    };
  },
};

async function prepare(editor: Editor): Promise<void> {
  await editor.nvim.lua("FILES = loadstring(...)() PATHS = FILES.open(10)", files);
  await editor.nvim.lua("FILES.diagnose(PATHS, 10000)");
}

/** Subtracts the values of `idle`, which an idle Neovim would have, too. */
function figures(id: string, work: Standstill, idle?: Standstill): Values {
  const over = (field: "sum" | "longest" | "cpu") =>
    Math.max(0, work[field] - (idle?.[field] ?? 0));
  return {
    [`${id}-sum`]: over("sum"),
    [`${id}-longest`]: over("longest"),
    [`${id}-cpu`]: over("cpu"),
  };
}

async function repeat(work: () => Promise<unknown>): Promise<void> {
  for (let i = 0; i < TIMES; i++) await work();
}
