import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, onEachNeovim } from "#test";
import { answer, calls, line, prompt, result } from "../transcript/entries";

/* A conversation as a buffer, from the CLI's file to the screen. */
const ID = "6a14035a-a165-4b1f-a000-29d9e074ba4b";

onEachNeovim(
  (session) => {
    const folder = () => join(session.neovim.home, ".claude/projects/-p");
    const path = (id = ID) => join(folder(), `${id}.jsonl`);
    const append = (...entries: object[]) => appendFileSync(path(), entries.map(line).join(""));
    const lua = <T>(code: string, ...args: unknown[]) => session.neovim.lua<T>(code, ...args);
    const lines = () => lua<string[]>("return vim.api.nvim_buf_get_lines(0, 0, -1, true)");
    const cursor = () => lua<number>("return vim.api.nvim_win_get_cursor(0)[1]");
    const keys = (typed: string) =>
      lua("vim.api.nvim_feedkeys(vim.keycode((...)), 'mx', false)", typed);

    async function open(...entries: object[]): Promise<void> {
      mkdirSync(folder(), { recursive: true });
      writeFileSync(path(), entries.map(line).join(""));
      await lua("require('port').transcript.open((...))", ID);
      await eventually("the buffer", async () => (await name()).endsWith(ID));
    }

    const name = () => lua<string>("return vim.api.nvim_buf_get_name(0)");
    const says = (text: string) =>
      eventually(text, async () =>
        expect(await lua<string>("return vim.fn.execute('messages')")).toContain(text),
      );

    beforeEach(() => session.reset());
    afterAll(() => rmSync(folder(), { recursive: true, force: true }));

    test("Markdown at its end, that nobody can change, with results folded away", async () => {
      await open(
        prompt("first"),
        calls("1", "Read", { file_path: "/p/a.ts" }),
        result("1", "x\ny"),
        answer("**Done**"),
      );
      expect(await lines()).toEqual([
        ...["❯ first", "", "▸ Read `a.ts`  2 lines", "```", "x", "y", "```", "", "**Done**", ""],
      ]);
      expect(await cursor()).toBe(10);
      expect(await lua("return { vim.bo.filetype, vim.bo.modifiable, vim.bo.modified }")).toEqual([
        ...["markdown", false, false],
      ]);
      expect(await lua("return { vim.fn.foldclosed(3), vim.fn.foldclosedend(5) }")).toEqual([3, 7]);
      expect(await lua("return vim.fn.foldclosed(9)")).toBe(-1);
    });

    test("what comes is there, and who reads stays", async () => {
      await open(prompt("first"), calls("1", "Bash", { command: "sleep 3" }));
      append(answer("more"));
      await eventually("the answer", async () => (await lines()).includes("more"));
      expect(await cursor()).toBe((await lines()).length);
      await keys("gg");
      append(result("1", "slept"), prompt("second"));
      await eventually("the result", async () => (await lines()).includes("❯ second"));
      expect(await cursor()).toBe(1);
      expect((await lines()).slice(2, 6)).toEqual([
        "▸ Bash `sleep 3`  1 line",
        "```",
        "slept",
        "```",
      ]);
      expect(await lua("return vim.fn.foldclosedend(3)")).toBe(6);
    });

    test("a long one begins with its end; the rest is there a moment later, and the cursor stays", async () => {
      const turns = Array.from({ length: 500 }, (_, i) => [
        prompt(`ask ${i}`),
        answer("x".repeat(500)),
      ]);
      await open(...turns.flat());
      const here = () => lua<string>("return vim.api.nvim_get_current_line()");
      await keys("?ask 49<CR>");
      const before = await here();
      await eventually("the whole", async () => (await lines())[0] === "❯ ask 0");
      expect((await lines()).filter((one) => one.startsWith("❯"))).toHaveLength(500);
      expect(await here()).toBe(before);
    });

    test("]] and [[ go from prompt to prompt, with a count", async () => {
      await open(prompt("a"), answer("1"), prompt("b\nb"), answer("# 2"), prompt("c"), answer("3"));
      await keys("gg]]");
      expect(await cursor()).toBe(5);
      await keys("]]");
      expect(await cursor()).toBe(10);
      await keys("]]");
      expect(await cursor()).toBe(10);
      await keys("2[[");
      expect(await cursor()).toBe(1);
      await keys("[[");
      expect(await cursor()).toBe(1);
    });

    describe("<CR> opens in a window beside", () => {
      const place = () =>
        lua(
          "return { vim.fn.expand('%:t'), vim.api.nvim_win_get_cursor(0)[1], vim.fn.winnr('$') }",
        );

      test.each([
        ["the file of a call, where it is about it", "gg2j<CR>", 3],
        ["also from its result", "ggzR5j<CR>", 3],
        ["the file under the cursor, at its line", "G-W<CR>", 4],
        ["gF does the same", "G-WgF", 4],
      ])("%s", async (_name, typed, row) => {
        const file = session.write("a.txt", "1\n2\n3\n4\n");
        await open(
          prompt("x"),
          calls("1", "Read", { file_path: file, offset: 3, limit: 1 }),
          result("1", "3"),
          answer(`see ${file}:4`),
        );
        await keys(typed);
        expect(await place()).toEqual(["a.txt", row, 2]);
      });

      test("a file that is gone, and a line without one, say so", async () => {
        await open(
          prompt("x"),
          calls("1", "Read", { file_path: session.path("gone") }),
          answer("y"),
        );
        await keys("gg2j<CR>");
        await says("gone");
        await keys("G-<CR>");
        await says("names no file");
      });

      test("a subagent's conversation is shown", async () => {
        mkdirSync(join(folder(), ID, "subagents"), { recursive: true });
        writeFileSync(join(folder(), ID, "subagents/agent-a1.jsonl"), line(prompt("look")));
        await open(
          calls("2", "Agent", { description: "look" }),
          result("2", "started", { agentId: "a1" }),
        );
        await keys("G-<CR>");
        await eventually("the agent", async () => (await lines())[0] === "❯ look");
      });
    });

    test("a session that is not written yet, and one that never was, say so", async () => {
      await lua("require('port').transcript.open('0-0')");
      await says("with its first answer");
    });

    test("opened twice at once, and after :edit, it is there once", async () => {
      mkdirSync(folder(), { recursive: true });
      writeFileSync(path(), [prompt("a"), answer("b")].map(line).join(""));
      await lua("local open = require('port').transcript.open open(...) open(...)", ID);
      const whole = () =>
        eventually("the whole", async () => expect(await lines()).toEqual(["❯ a", "", "b", ""]));
      await whole();
      await session.neovim.command("edit");
      await whole();
      append(prompt("c"));
      await eventually("what comes", async () => (await lines()).includes("❯ c"));
    });

    test("after the executable was killed it goes on", async () => {
      await open(prompt("a"));
      const before = await session.neovim.ready();
      process.kill(before, "SIGKILL");
      await session.neovim.ready(before);
      append(answer("b"));
      await eventually("what comes", async () => (await lines()).includes("b"));
    });

    test("a session file holds neither it nor a prompt", async () => {
      await open(prompt("a"));
      await session.neovim.command("Claude prompt");
      const file = session.path("Session.vim");
      await session.neovim.command(`mksession! ${file}`);
      await lua("vim.cmd('silent! %bwipeout!')");
      await session.neovim.command(`source ${file}`);
      await session.neovim.until(
        "no buffer of ours",
        `return not vim.iter(vim.api.nvim_list_bufs()):any(function(buf)
            return vim.startswith(vim.api.nvim_buf_get_name(buf), "claude-code://")
          end)`,
      );
    });

    test("a long result has a window of its own, and what is no place its fold", async () => {
      await open(calls("1", "Bash", { command: "x" }), result("1", "y"), answer("[a](b.txt)"));
      const file = session.write("b.txt", "1\n");
      await keys("gg<CR>");
      expect(await lua("return vim.fn.foldclosed(1)")).toBe(-1);
      await keys("G-0<CR>");
      expect(await name()).toBe(file);
    });

    test.each(["bwipeout", "bdelete"])(
      "after :%s, while it is filled, it opens again",
      async (gone) => {
        const turns = Array.from({ length: 500 }, (_, i) => prompt(`ask ${i} ${"x".repeat(500)}`));
        await open(...turns);
        await lua("vim.cmd.messages('clear'); vim.cmd[...]()", gone);
        append(prompt("b"));
        await lua("require('port').transcript.open((...))", ID);
        await eventually(
          "the whole",
          async () => (await lines())[0]?.startsWith("❯ ask 0 ") === true,
        );
        expect(await lua("return vim.fn.getline(vim.fn.line('$') - 1)")).toBe("❯ b");
        expect(await lua("return vim.fn.execute('messages')")).toBe("");
      },
    );
  },
  { ui: { width: 120, height: 40 } },
);
