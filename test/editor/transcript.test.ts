import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { onEachNeovim } from "#test";
import { join } from "../../src/lib/platform";
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
    const plays = (script: string) => session.neovim.plays(script);

    async function open(...entries: object[]): Promise<void> {
      mkdirSync(folder(), { recursive: true });
      writeFileSync(path(), entries.map(line).join(""));
      await lua("require('port').transcript.open((...))", ID);
      await plays(`<Ignore>  {bufname()} /${ID}$/`);
    }

    beforeEach(() => session.reset());
    afterAll(() => rmSync(folder(), { recursive: true, force: true }));

    test("shows the end of read-only Markdown, with results folded away", async () => {
      await open(
        prompt("first"),
        calls("1", "Read", { file_path: "/p/a.ts" }),
        result("1", "x\ny"),
        answer("**Done**"),
      );
      await plays(`
        <Ignore>   lines = ❯ first||▸ Read \`a.ts\` 2 lines|\`\`\`|x|y|\`\`\`||**Done**|   :10
                   {[&filetype, &modifiable, &modified]} ['markdown', 0, 0]
                   {[foldclosed(3), foldclosedend(5), foldclosed(9)]} [3, 7, -1]
      `);
    });

    test("adds new blocks, and leaves the cursor", async () => {
      await open(prompt("first"), calls("1", "Bash", { command: "sleep 3" }));
      append(answer("more"));
      await plays(`
        <Ignore>   lines |more|   {line('.') == line('$')} 1
        gg         :1
      `);
      append(result("1", "slept"), prompt("second"));
      await plays(`
        <Ignore>   lines |❯ second|   :1   {foldclosedend(3)} 6
                   lines |▸ Bash \`sleep 3\` 1 line|\`\`\`|slept|\`\`\`|
      `);
    });

    describe("an answer that Claude is writing", () => {
      /** As the executable reports it. */
      const write = (answer: number, row: number, lines: string[], done = false) =>
        lua("require('port').mod.on_written(...)", {
          ...{ session: ID, remote: "", answer, row, lines, done },
        });

      test("grows at the end, and its entry replaces it", async () => {
        await open(prompt("first"));
        await write(2, 0, ["# I", ""]);
        await plays("<Ignore>  lines = ❯ first||# I|   :4");
        await write(2, 0, ["# I see", "```", "```", ""]);
        await plays("<Ignore>  lines = ❯ first||# I see|```|```|   :6");
        await write(2, 2, ["x", "```", ""]);
        await plays("<Ignore>  lines = ❯ first||# I see|```|x|```|   :7   {foldlevel('$')} 0");
        append(answer("# I see\n```\nx\n```"), calls("1", "Bash", { command: "ls" }));
        await plays("<Ignore>  lines = ❯ first||# I see|```|x|```||▸ Bash `ls`|   :9");
        await write(2, 4, ["late", ""], true);
        append(result("1", "y"));
        await write(3, 0, ["Next", ""]);
        const end = "▸ Bash `ls` 1 line|```|y|```||Next|";
        await plays(`<Ignore>  lines /x.\`\`\`..${end}$/   :14`);
      });

      test("leaves a cursor that is elsewhere, and its view", async () => {
        await open(...Array.from({ length: 80 }, (_, i) => prompt(`ask ${i}`)));
        await write(2, 0, ["a", "b", ""]);
        await plays("gg20jzt  :21");
        await write(2, 2, ["c", "d", ""]);
        append(answer("a\nb\nc\nd"));
        await plays("<Ignore>  lines /79\\|\\|a\\|b\\|c\\|d\\|$/  :21  {winsaveview().topline} 21");
      });

      test("stays below other entries, and leaves no trace if Claude does not finish it", async () => {
        await open(prompt("first"));
        await write(2, 0, ["half", ""]);
        append(prompt("more"));
        await plays("<Ignore>  lines = ❯ first||❯ more||half|   :6");
        await write(2, 1, [""], true);
        await plays("<Ignore>  lines = ❯ first||❯ more|   :4");
      });

      test("is read only while a window shows the conversation", async () => {
        await open(prompt("first"));
        await write(2, 0, ["half", ""]);
        await plays(":hide enew  {bufname() ==# ''} 1");
        await write(2, 1, ["more", ""]);
        await lua("require('port').transcript.open((...))", ID);
        await plays("<Ignore>  lines = ❯ first|");
      });

      test("is lost with the executable", async () => {
        await open(prompt("a"));
        await write(2, 0, ["half", ""]);
        const before = await session.neovim.ready();
        process.kill(before, "SIGKILL");
        await session.neovim.ready(before);
        await plays("<Ignore>  lines = ❯ a|");
      });
    });

    test("shows the end of a long conversation first, and keeps the cursor when the rest comes", async () => {
      const turns = Array.from({ length: 500 }, (_, i) => [
        prompt(`ask ${i}`),
        answer("x".repeat(500)),
      ]);
      await open(...turns.flat());
      await plays(`
        ?ask 49<CR>   line = ❯ ask 499
        <Ignore>      {getline(1)} ❯ ask 0   line = ❯ ask 499
      `);
      expect((await lines()).filter((one) => one.startsWith("❯"))).toHaveLength(500);
    });

    test("moves from prompt to prompt with ]] and [[, with a count", async () => {
      await open(prompt("a"), answer("1"), prompt("b\nb"), answer("# 2"), prompt("c"), answer("3"));
      await plays(`
        gg]]   :5
        ]]     :10
        ]]     :10
        2[[    :1
        [[     :1
      `);
    });

    describe("<CR> opens it in a window beside the list", () => {
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
        await plays(`${typed}  a.txt:${row}  windows 2`);
      });

      test("reports a missing file, and a line without a file", async () => {
        const call = calls("1", "Read", { file_path: session.path("gone") });
        await open(prompt("x"), call, answer("y"));
        await plays(`
          gg2j<CR>   says gone
          G-<CR>     says names no file
        `);
      });

      test("shows a subagent's conversation", async () => {
        mkdirSync(join(folder(), ID, "subagents"), { recursive: true });
        writeFileSync(join(folder(), ID, "subagents/agent-a1.jsonl"), line(prompt("look")));
        await open(
          calls("2", "Agent", { description: "look" }),
          result("2", "started", { agentId: "a1" }),
        );
        await plays("G-<CR>  {getline(1)} ❯ look");
      });
    });

    test("says that a session is not written yet", async () => {
      await lua("require('port').transcript.open('0-0')");
      await plays("<Ignore>  says with its first answer");
    });

    test("shows a conversation once if it is opened twice, and after :edit", async () => {
      mkdirSync(folder(), { recursive: true });
      writeFileSync(path(), [prompt("a"), answer("b")].map(line).join(""));
      await lua("local open = require('port').transcript.open open(...) open(...)", ID);
      await plays(`
        <Ignore>   lines = ❯ a||b|
        :edit      lines = ❯ a||b|
      `);
      append(prompt("c"));
      await plays("<Ignore>  lines |❯ c|");
    });

    test("continues after the executable was killed", async () => {
      await open(prompt("a"));
      const before = await session.neovim.ready();
      process.kill(before, "SIGKILL");
      await session.neovim.ready(before);
      append(answer("b"));
      await plays("<Ignore>  lines |b|");
    });

    test("opens the fold of a line without a place", async () => {
      await open(calls("1", "Bash", { command: "x" }), result("1", "y"), answer("[a](b.txt)"));
      const file = session.write("b.txt", "1\n");
      await plays(`
        gg        {foldclosed(1)} 1
        <CR>      {foldclosed(1)} -1
        G-0<CR>   {expand('%:p')} ${file}
      `);
    });

    test.each(["bwipeout", "bdelete"])("opens again after :%s", async (gone) => {
      const turns = Array.from({ length: 500 }, (_, i) => prompt(`ask ${i} ${"x".repeat(500)}`));
      await open(...turns);
      await lua("vim.cmd.messages('clear'); vim.cmd[...]()", gone);
      append(prompt("b"));
      await lua("require('port').transcript.open((...))", ID);
      await plays(`<Ignore>  {getline(1)} /^❯ ask 0 /  {getline(line('$') - 1)} ❯ b`);
      expect(await lua("return vim.fn.execute('messages')")).toBe("");
    });

    test("keeps conversations and prompts out of a session file", async () => {
      await open(prompt("a"));
      await session.neovim.command("Claude prompt");
      const file = session.path("Session.vim");
      await session.neovim.command(`mksession! ${file}`);
      await plays(`
        :silent! %bwipeout!
        :source ${file}     {getbufinfo()->filter('v:val.name =~ "^claude-code://"')} []
      `);
    });
  },
  { ui: { width: 120, height: 40 } },
);
