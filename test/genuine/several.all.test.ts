import { readFile } from "node:fs/promises";
import { commitAll } from "#review";
import { claudeCli, NEOVIMS, type SessionRow } from "#test";
import { requireNamespace } from "../support/namespace";
import { edit, read, say } from "../support/turns";
import { eventually } from "./eventually";
import { InTerminal, START_MS } from "./in-terminal";

/* Several genuine CLIs in terminals of one Neovim, in a real TUI. Only the model is a stand-in. */
const TEXT = "one\ntwo\n";

requireNamespace();
describe.each(NEOVIMS)("several Claudes in $name", (version) => {
  const claude = new InTerminal().inBlock(version, {
    ...{ files: { "a.txt": TEXT, "b.txt": TEXT }, columns: 160 },
    prepare: () => commitAll(claude.project, { "a.txt": TEXT, "b.txt": TEXT }),
    finish: stopBackground,
  });

  const rows = () => claude.neovim.lua<SessionRow[]>(`return require("port").session_list.own()`);

  const hasState = (n: number, state: string) =>
    eventually(async () => (await rows()).find((row) => row.n === n)?.state, state, START_MS);

  const connected = (count: number) =>
    eventually(
      () => claude.neovim.lua<number>(`return #require("claude-code").status().clients`),
      count,
      START_MS,
    );

  test("start, each with an id and a state of its own", async () => {
    await claude.command("Claude");
    await claude.showing(/^❯/m, 1);
    await claude.command("Claude new -n docs");
    await claude.showing(/^❯/m, 2);
    await connected(2);
    await hasState(1, "idle");
    await hasState(2, "idle");
    const [first, second] = await rows();
    expect(second?.name).toBe("docs");
    expect(first?.id).toMatch(/^[0-9a-f-]{36}$/);
    expect(second?.id).not.toBe(first?.id);
    await claude.neovim.terminal.waitFor(/1( \S+)? ○ +2 docs ○/);
  });

  test("propose in diffs that name their session, and receive their own answers", async () => {
    await claude.neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
    claude.model.script([
      read(claude.path("b.txt")),
      edit(claude.path("b.txt"), "two", "zwei"),
      say("Done."),
    ]);
    await claude.command("Claude send! change b");
    await claude.neovim.terminal.waitFor(/docs: b\.txt/);
    // The first accepted one gets the first answer.
    const dones = [say("Done."), say("Done.")];
    claude.model.script([
      read(claude.path("a.txt")),
      edit(claude.path("a.txt"), "one", "eins"),
      ...dones,
    ]);
    await claude.command("Claude send! --to 1 change a");
    await claude.neovim.terminal.waitFor(/\[1\/2\] docs: b\.txt/);
    await claude.command("Claude diff accept");
    await eventually(() => claude.onDisk("b.txt"), TEXT.replace("two", "zwei"));
    await claude.showing(/Done\./, 2);
    await claude.neovim.terminal.waitFor(/1[^│]*: a\.txt/);
    expect(await claude.onDisk("a.txt")).toBe(TEXT);
    await claude.command("Claude diff accept");
    await eventually(() => claude.onDisk("a.txt"), TEXT.replace("one", "eins"));
    await claude.showing(/Done\./, 1);
  });

  test("start one in a worktree of its own", async () => {
    await claude.command("Claude new -w feature");
    await claude.showing(/^❯/m, 3);
    await connected(3);
    const path = claude.path(".claude/worktrees/feature/a.txt");
    claude.model.script([read(path), edit(path, "two", "deux"), say("Feature done.")]);
    await claude.neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
    await claude.command("Claude send! --to feature change it");
    await claude.neovim.terminal.waitFor(/feature: \S*a\.txt/);
    await claude.command("Claude diff accept");
    await eventually(() => readFile(path, "utf8"), TEXT.replace("two", "deux"));
    expect(await claude.onDisk("a.txt")).toBe(TEXT.replace("one", "eins"));
  });

  test("resume an ended one while others are running", async () => {
    const id = (await rows()).find((row) => row.n === 2)?.id;
    await claude.command("Claude send! --to docs /exit");
    await eventually(async () => (await rows()).map((row) => row.n), [1, 3], START_MS);
    await claude.command(`Claude new --resume ${id}`);
    await claude.showing(/Done\./, 2);
    await connected(3);
    await eventually(async () => (await rows())[1]?.id, id, START_MS);
  });

  test("list, attach and leave one that keeps running in the background", async () => {
    await claude.neovim.lua(`
        vim.ui.select = function(rows, options, callback)
          CHOICES = vim.tbl_map(options.format_item, rows)
          for i, row in ipairs(rows) do
            if CHOICES[i]:find(WANTED, 1, true) then return callback(row) end
          end
        end
        return true`);
    const choose = (text: string) =>
      claude.neovim.lua(`WANTED = "${text}" vim.cmd("Claude sessions") return true`);
    const all = () =>
      claude.neovim.lua<SessionRow[]>(`return vim.tbl_filter(function(row)
          return row.where == "background"
        end, require("claude-code").sessions())`);
    claude.model.script([say("In the night.")]);
    await claude.command("Claude new --bg -n nightly work on");
    const messages = () => claude.neovim.lua<string>(`return vim.fn.execute("messages")`);
    const isSaid = async () => (await messages()).includes("works in the background");
    await eventually(isSaid, true, START_MS);
    await eventually(async () => (await all()).map((row) => row.state), ["idle"], START_MS);
    await choose("(background)");
    await claude.showing(/In the night\./, 4);
    // Its own terminal reports its state, as any other does.
    await eventually(async () => (await all()).map((row) => row.source), ["terminal"], START_MS);
    claude.model.script([say("Still here.")]);
    await claude.neovim.lua(`vim.cmd.stopinsert() vim.cmd.wincmd("p") return true`);
    await claude.command("Claude send! --to nightly are you there");
    await claude.showing(/Still here\./, 4);
    const [attached] = await all();
    expect(attached).toMatchObject({ n: 4, name: "nightly" });
    // Resuming attaches to the running CLI: there is no second one.
    await claude.command(`Claude --resume ${attached?.id}`);
    const onScreen = () => claude.neovim.lua<number>("return vim.api.nvim_get_current_buf()");
    await eventually(onScreen, attached?.buf ?? 0, START_MS);
    expect((await rows()).map((row) => row.n)).toEqual([1, 2, 3, 4]);
    await claude.command("Claude close");
    await eventually(async () => (await all()).map((row) => row.n ?? 0), [0], START_MS);
    await stopBackground();
    await eventually(async () => (await all()).length, 0, START_MS);
  });

  /** Such a session outlives Neovim and the test; its daemon ends on its own once there are no sessions. */
  async function stopBackground() {
    const options = { cwd: claude.project, env: claude.env };
    const agents = Bun.spawn([claudeCli(), "agents", "--json"], { ...options, stdout: "pipe" });
    const listed = (await new Response(agents.stdout).json()) as { kind: string; id: string }[];
    for (const one of listed)
      if (one.kind === "background") await Bun.spawn([claudeCli(), "stop", one.id], options).exited;
  }
});
