import { describe, expect, test } from "bun:test";
import { requireNamespace } from "../support/namespace";
import { NEOVIMS } from "../support/toolchain";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/* Genuine CLIs in Neovim's own terminal: their starts and ends. */
interface Row {
  pid: number;
  source?: string;
  connected?: boolean;
}

requireNamespace();
describe.each(NEOVIMS)("the sessions of Claude in the terminal of $name", (version) => {
  const claude = new InTerminal().inBlock(version, { files: { "main.lua": "return 1\n" } });

  const rows = () => claude.neovim.lua<Row[]>(`return require("claude-code").sessions()`);
  const row = async () => (await rows())[0];

  test("one that is killed, or ends, is gone; the next one takes its place", async () => {
    await claude.command("Claude");
    await eventually(async () => (await row())?.connected, true, START_MS);
    process.kill((await row())?.pid ?? 0, "SIGKILL");
    await eventually(async () => Object.keys(await rows()).length, 0);
    await claude.command("Claude");
    await eventually(async () => (await row())?.source, "terminal", START_MS);
    await eventually(async () => (await row())?.connected, true, START_MS);
    const { pid: before } = (await row()) ?? {};
    await claude.command("Claude!");
    await eventually(
      async () => {
        const { pid, source, connected } = (await row()) ?? {};
        return pid !== before && source === "terminal" && connected;
      },
      true,
      START_MS,
    );
    expect(await rows()).toHaveLength(1);
    await claude.send("/exit");
    await eventually(async () => Object.keys(await rows()).length, 0);
  });
});
