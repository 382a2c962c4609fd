import { describe, expect, test } from "bun:test";
import { newsText } from "../support/model-request";
import { requireNamespace } from "../support/namespace";
import { Container } from "../support/remote";
import { edit, read } from "../support/turns";
import { eventually } from "./eventually";
import { MODIFIED, UPDATED } from "./first-light";
import { CASE_MS, START_MS } from "./in-terminal";
import { InRemote, reconnects, starts } from "./remote";

requireNamespace();

describe("Claude on another machine, by ssh, whose project is there alone", () => {
  const claude = InRemote.inBlock({ at: Container.PROJECT, by: "ssh", alone: true });
  const git = (...words: string[]) =>
    Bun.spawnSync(["git", "-C", claude.there, ...words]).stdout.toString();

  starts(claude);

  test(
    "a proposal is shown and accepted: the CLI writes there",
    async () => {
      const proposal = await claude.propose("zero", "one");
      await claude.press("Enter");
      expect(newsText(await claude.received(UPDATED))).not.toContain(MODIFIED);
      await claude.turnEnded();
      await claude.command(`edit ${claude.here("main.lua")}`);
      await claude.written(proposal);
    },
    CASE_MS,
  );

  reconnects(claude);

  test(
    "what it changes without asking is reviewed: a hunk is undone there, another one committed",
    async () => {
      await claude.command("Claude new --permission-mode acceptEdits");
      await claude.showing(/^❯/m, 2);
      await eventually(() => claude.clients(), ["dev", "dev"], START_MS);
      await claude.command("stopinsert | wincmd p");
      const [main, other] = [claude.inside("main.lua"), claude.inside("other.lua")];
      claude.model.script([
        [...read(main), ...read(other)],
        [...edit(main, "return name", "return undone"), ...edit(other, "1", "2")],
        [{ text: "Done." }],
      ]);
      await claude.neovim.lua(
        `require("port").terminal.send("go on", { submit = true, n = 2 }) return true`,
      );
      await eventually(() => claude.onDisk("other.lua"), "return 2\n");
      const count = () => claude.neovim.lua('return require("claude-code.editor.review").count()');
      await eventually(count, 2, START_MS);
      const isIdle = () => claude.neovim.lua(`return require("port").session_rows.get(2).state`);
      await eventually(
        async () => ["idle", "done"].includes((await isIdle()) as string),
        true,
        START_MS,
      );
      await claude.command(`edit ${claude.here("main.lua")} | Claude undo`);
      await eventually(
        async () => (await claude.onDisk("main.lua")).includes("return name"),
        true,
        START_MS,
      );
      // Keys come once the buffer is written; an API client's commands may come while it still waits for that.
      await claude.neovim.terminal.type(`:edit ${claude.here("other.lua")} | Claude keep`);
      await claude.neovim.terminal.press("Enter");
      await eventually(count, 0, START_MS);
      await claude.neovim.lua('vim.schedule(function() vim.cmd("Claude commit") end) return true');
      const name = () =>
        claude.neovim.lua<string>("return vim.fs.basename(vim.api.nvim_buf_get_name(0))");
      await eventually(name, "COMMIT_EDITMSG", START_MS);
      await claude.command("call setline(1, 'from here') | wq");
      await eventually(
        async () =>
          git("log", "-1", "--format=%s", "--name-only").split("\n").filter(Boolean).join(),
        "from here,other.lua",
        START_MS,
      );
    },
    CASE_MS,
  );
});
