import { claims, NEOVIMS, NEWEST, nightly, outcomeOf, perBlock, rows, TestClient } from "#test";
import { type Asked, BASH, Editor, type Request } from "./editor";

/*
 * The hook by which the user answers Claude in Neovim, without a CLI: what Neovim offers, what the hook
 * prints, and what ends it. test/genuine/answer.test.ts has the CLI.
 */

const RULE = {
  type: "addRules",
  rules: [{ toolName: "Bash", ruleContent: "npm test *" }],
  behavior: "allow",
  destination: "localSettings",
};
/** The user would not see its end. */
const LONG_RULE = {
  ...RULE,
  rules: [{ toolName: "Bash", ruleContent: "x".repeat(300) }, { toolName: "Write" }],
};
const QUESTION: Asked = {
  tool_name: "AskUserQuestion",
  tool_input: {
    questions: [
      {
        question: "Which sizes?",
        header: "Size",
        multiSelect: true,
        options: [{ label: "S", description: "small" }, { label: "M" }],
      },
    ],
  },
};
/** A tool, its input, and the lines that are shown. */
const SHOWN = rows([
  'mcp__x__y | {"a":[1,{"b":null}],"text":"two\\nlines"} | a:⏎[⏎  1,⏎  {⏎    "b": null⏎  }⏎]⏎text:⏎two⏎lines',
  'Edit | {"file_path":"/a.lua","old_string":"one\\n","new_string":"two\\n\\nthree"} | /a.lua⏎-one⏎+two⏎+⏎+three',
  'Bash | {"command":"ls","content":"c","description":"list"} | ls⏎⏎content: c⏎description: list',
  'ExitPlanMode | {"plan":"1. do it","allowedPrompts":["any"]} | 1. do it⏎⏎allowedPrompts:⏎[⏎  "any"⏎]',
  'mcp__x__y | {"file_path":"/a","new_string":"b\\u3164\\udb40\\udd01\\u2764\\ufe0f","content":"c"} | file_path: /a⏎new_string: b<3164><e0101>\u2764\ufe0f⏎content: c',
  'Edit | {"file_path":"/a","edits":[{"new":"b"}]} | file_path: /a⏎edits:⏎[⏎  {⏎    "new": "b"⏎  }⏎]',
]);
const OVER = "that request was answered already, or Claude no longer asks it";

describe.each(NEOVIMS)("answers in Neovim $name", (version) => {
  const editor = perBlock(() => Editor.start(version));
  afterEach(() => editor.reset());

  const answers = { ...QUESTION.tool_input, answers: { "Which sizes?": "S, M, or XL" } };
  const rejected = { behavior: "deny", message: "The user rejected this.", interrupt: true };
  const suggesting = { ...BASH, permission_suggestions: [{ type: "new" }, RULE] };
  const SIZES = `{ allow = true, replies = { { options = { 1, 2 }, text = "or XL" } } }`;
  const LATER = `{ allow = false, reason = "Later." }`;
  const allowed = { behavior: "allow" };
  const alwaysAllowed = { ...allowed, updatedPermissions: [RULE] };
  test.each([
    ["a plain yes", BASH, "{ allow = true }", allowed],
    ["a suggestion", suggesting, "{ allow = true, suggestion = 1 }", alwaysAllowed],
    ["no, with a reason", BASH, LATER, { behavior: "deny", message: "Later." }],
    ["no", BASH, "{ allow = false }", rejected],
    ["a question, by options and text", QUESTION, SIZES, { ...allowed, updatedInput: answers }],
  ] as const)("answers with %s", async (_, asked, answer, decision) => {
    const { output, id } = await editor.asking(asked);
    expect(await editor.answer(id, answer)).toEqual([true]);
    expect(await output).toEqual(decision);
    expect(await editor.requests()).toEqual([]);
    expect(await editor.answer(id, answer)).toEqual([false, OVER]);
  });

  test("prints nothing if a request ends without an answer", async () => {
    claims("A question is shown whole");
    for (const end of ["working", "idle", "done"]) {
      const { n, output, id } = await editor.asking();
      await editor.report(n, end);
      expect(await output).toBeUndefined();
      expect(await editor.answer(id, "{ allow = true }")).toEqual([false, OVER]);
      await editor.reset();
    }
    // A session has one dialog at a time.
    const { n, output: first, id: before } = await editor.asking();
    const second = editor.hook({ ...BASH, tool_input: { command: "make" } });
    expect(await first).toBeUndefined();
    const { id, title } = await editor.wait();
    expect([id > before, title]).toEqual([true, "Bash: make"]);
    await editor.neovim.lua(`require("port").session_rows.remove(${n})`);
    expect(await second).toBeUndefined();
  });

  test("offers a request that came before the session was blocked, and names the command", async () => {
    await editor.neovim.command("doautocmd FocusGained");
    const n = await editor.block("terminal", `name = "docs"`);
    await editor.report(n, "working");
    const [output] = await editor.early(BASH);
    expect(await editor.requests()).toEqual([]);
    await editor.report(n, "blocked");
    await editor.says(":Claude answer: Claude (docs) needs input");
    const { id } = await editor.wait();
    await editor.answer(id, "{ allow = true }");
    expect(await output).toEqual({ behavior: "allow" });
  });

  const none = { tool_name: "AskUserQuestion", tool_input: { questions: [{ question: 7 }] } };
  test.each([
    ["a background session", "registry", `where = "background"`, BASH],
    ["a session of which only hooks report", "hook", "", BASH],
    ["a subagent, whose dialog would wait", "terminal", "", { ...BASH, agent_id: "a1" }],
    ["a malformed question", "terminal", "", none],
  ])("ends the hook of %s at once", async (_, source, fields, asked) => {
    await editor.block(source, fields);
    expect(await editor.hook(asked)).toBeUndefined();
    expect(await editor.requests()).toEqual([]);
  });

  test("ends the hook of claude -p, and of a session without a dialog", async () => {
    const n = await editor.block("registry");
    expect(await editor.hook(BASH, n, "sdk-cli")).toBeUndefined();
    // Its dialog never comes.
    await editor.report(n, "working");
    await editor.neovim.lua(`RESTORE = require("port").hurry(50)`);
    expect(await editor.hook(BASH)).toBeUndefined();
    await editor.neovim.lua("RESTORE()");
  });

  test("shows input of any kind as text, with codes for what no one sees", async () => {
    claims("Invisible characters are shown as codes");
    claims("A question is shown whole");
    const tool = (tool_name: string, tool_input: object): Asked => ({ tool_name, tool_input });
    const suggestions = [7, null, { ...RULE, behavior: "deny" }, RULE, LONG_RULE];
    const edit = { file_path: "/a.lua", old_string: "one\n", new_string: "two\n\nthree" };
    const cases: [Asked, Partial<Request>][] = [
      ...SHOWN.map(([name = "", input = "", lines = ""]): [Asked, Partial<Request>] => [
        tool(name, JSON.parse(input)),
        { lines: lines.split("⏎") },
      ]),
      [
        tool("Bash", { command: "echo \u202Ea\u200B\n\u001B[2Jrm" }),
        { title: "Bash: echo <202e>a<200b> <1b>[2Jrm" },
      ],
      [tool("Edit", edit), { is_edit: true }],
      [QUESTION, { title: "Which sizes?" }],
      [
        { permission_suggestions: "none" },
        { title: "", lines: ["The request has no arguments."], suggestions: [] },
      ],
      [
        { ...BASH, permission_suggestions: suggestions },
        { suggestions: ["Allow, and do not ask again in this project, for you: Bash(npm test *)"] },
      ],
    ];
    await editor.block();
    for (const [asked, wanted] of cases) {
      const output = editor.hook(asked);
      const request = await editor.wait();
      expect(request).toMatchObject(wanted);
      await editor.answer(request.id, "{ allow = false }");
      await output;
    }
    const output = editor.hook({ tool_name: "Bash", tool_input: { command: "x".repeat(3e6) } });
    const { id, lines } = await editor.wait();
    expect(lines.at(-1)).toBe("… and more: read it in Claude's terminal");
    await editor.answer(id, "{ allow = true }");
    await output;
  });

  test("answers the current session, else the one that has asked longest; a count is a number", async () => {
    const outputs: Promise<unknown>[] = [];
    for (const number of [1, 2]) {
      const n = await editor.block("terminal", `name = "s${number}"`);
      outputs.push(editor.hook({ ...BASH, tool_input: { command: `make ${n}` } }, n));
      await editor.wait(number);
    }
    const prompt = (command: string) =>
      editor.neovim.lua(`offered = nil; vim.cmd("${command}"); return offered.prompt`);
    const current = (n: number) => editor.neovim.lua(`require("port").session_rows.use(${n})`);
    await current(2);
    expect(await prompt("Claude answer")).toBe("Claude 2 (s2) asks: Bash: make 2");
    expect(await prompt("1Claude answer")).toBe("Claude 1 (s1) asks: Bash: make 1");
    await editor.neovim.lua(`choose("Allow")`);
    expect(await outputs[0]).toEqual({ behavior: "allow" });
    expect((await editor.requests()).map(({ session }) => session)).toEqual([2]);
    await current(1);
    await editor.report(1, "working");
    expect(await prompt("Claude answer")).toBe("Claude 2 (s2) asks: Bash: make 2");
    // The number need not be that of a line.
    await editor.neovim.command("Claude answer 9");
    await editor.says("there is no Claude session 9; :Claude sessions lists them");
    await editor.neovim.command("8ClaudeCode");
    await editor.says("there is no Claude session 8; :Claude sessions lists them");
    await editor.report(2, "idle");
    expect(await outputs[1]).toBeUndefined();
  });

  test("names which of several questions the list answers", async () => {
    const second = { question: "In which colour?", header: "Colour", options: [{ label: "red" }] };
    const questions = [{ ...second, question: "Which sizes?" }, second];
    const asked = { tool_name: "AskUserQuestion", tool_input: { questions } };
    const { output } = await editor.asking(asked);
    await editor.neovim.command("Claude answer");
    const prompt = () => editor.neovim.lua("return offered.prompt");
    expect(await prompt()).toBe("Claude asks: 1 of 2: Which sizes?");
    await editor.neovim.lua(`choose("red")`);
    expect(await prompt()).toBe("Claude asks: 2 of 2: In which colour?");
    await editor.neovim.lua(`choose("Decline")`);
    await output;
  });

  test("shows the request above the list, whole or by a choice, and removes it with the list", async () => {
    await editor.block();
    const float = async () =>
      (await editor.floats()).map(({ lines, ...one }) => ({ ...one, text: lines[0] }));
    for (const [command, shown, whole] of [
      ["npm test", { width: 21, height: 1 }, 1],
      ["y".repeat(200), { width: 78, height: 3 }, 3],
      ["z\n".repeat(50), { width: 21, height: 13 }, 20],
    ] as const) {
      const output = editor.hook({ ...BASH, tool_input: { command } });
      await editor.wait();
      const texts = await editor.neovim.lua<string[]>(
        "vim.cmd('Claude answer') return offered.texts",
      );
      expect(texts.at(-1)).toBe("Show the whole request");
      const text = command.split("\n")[0];
      expect(await float()).toMatchObject([{ ...shown, text }]);
      await editor.neovim.lua(`choose("Show the whole request") offered = nil`);
      expect(await float()).toMatchObject([{ height: whole, text }]);
      await editor.neovim.type("q");
      await editor.neovim.until("the list", "return offered ~= nil");
      // A picker that was closed without an answer: there is still only one preview.
      await editor.neovim.command("Claude answer");
      expect(await float()).toHaveLength(1);
      // The user answered in the terminal: the request leaves the screen.
      await editor.report(1, "working");
      expect(await output).toBeUndefined();
      expect(await float()).toEqual([]);
      await editor.neovim.lua(`choose("Allow")`);
      await editor.report(1, "blocked");
    }
    await editor.says("that request was answered already");
  });

  test("shows an option whole before it is sent, and conceals nothing", async () => {
    const label = `Use a map ${"and more ".repeat(40)}--force`;
    const questions = [{ question: "Which?", options: [{ label }, { label: "List" }] }];
    const asked = { tool_name: "AskUserQuestion", tool_input: { questions } };
    const { output } = await editor.asking(asked);
    await editor.neovim.lua("vim.o.conceallevel = 2");
    await editor.neovim.command("Claude answer");
    const [seen] = await editor.floats();
    expect(seen?.lines.join(" ")).toContain("--force");
    expect(seen?.conceal).toBe(0);
    await editor.neovim.lua("vim.o.conceallevel = 0");
    await editor.neovim.lua("choose(...)", "List");
    expect(await output).toMatchObject({ behavior: "allow" });
  });

  test("shows a line of 200,000 characters whole, in lines that Neovim draws quickly", async () => {
    const command = `echo ${"ü€x".repeat(66_000)}`;
    const { output } = await editor.asking({ ...BASH, tool_input: { command } });
    await editor.neovim.command("Claude answer");
    for (const choice of ["", "Show the whole request"]) {
      if (choice) await editor.neovim.lua("choose(...)", choice);
      const lines = (await editor.floats())[0]?.lines ?? [];
      expect(lines.join("") === command).toBe(true);
      expect(Math.max(...lines.map((line) => Buffer.byteLength(line)))).toBeLessThanOrEqual(1_000);
    }
    await editor.neovim.lua("offered = nil");
    await editor.neovim.type("q");
    await editor.neovim.until("the list", "return offered ~= nil");
    await editor.neovim.lua(`choose("Deny")`);
    await output;
  });

  test("without a request, says who asks, or that no one does", async () => {
    const says = async (command: string, words: string) => {
      await editor.neovim.command(command);
      await editor.says(words);
    };
    await says("Claude answer", "no Claude session asks anything");
    await editor.block("registry", `name = "docs"`);
    await says("Claude answer", "Claude (docs) needs input; it asks in its terminal only");
    // The one used last among several.
    const second = await editor.block("registry", `name = "tests"`);
    await editor.neovim.lua('require("claude-code.sessions").use(...)', second);
    await says("Claude answer", "Claude 2 (tests) needs input; it asks in its terminal only");
    await editor.report(1, "idle");
    await says("1Claude answer", "Claude 1 does not ask anything");
  });
});

describe("answers in the newest Neovim", () => {
  nightly.test("asks a busy Neovim again", async () => {
    await using editor = await Editor.start(NEWEST);
    await editor.block();
    editor.neovim.process.kill("SIGSTOP");
    const output = editor.hook(BASH);
    await Bun.sleep(2_000);
    editor.neovim.process.kill("SIGCONT");
    const { id } = await editor.wait();
    await editor.answer(id, "{ allow = true }");
    expect(await output).toEqual({ behavior: "allow" });
  });

  test.each(["killed", "deactivated"])("prints nothing when it is %s", async (how) => {
    await using editor = await Editor.start(NEWEST);
    const { output } = await editor.asking();
    if (how === "killed") editor.neovim.process.kill("SIGKILL");
    else await editor.neovim.lua(`require("claude-code").deactivate()`);
    expect(await output).toBeUndefined();
  });

  test("refuses requests while it is off, and says how to turn it on", async () => {
    await using editor = await Editor.start(NEWEST, { isOn: false });
    await editor.block();
    expect(await editor.hook(BASH)).toBeUndefined();
    await editor.neovim.lua("vim.cmd('Claude answer')");
    await editor.says("the option permissions.answer is off");
  });

  test("does not let clients of the server answer", async () => {
    claims("Only you answer Claude's questions");
    await using editor = await Editor.start(NEWEST, { serves: true });
    const lock = await editor.neovim.lock();
    const { output, id } = await editor.asking();
    using client = await TestClient.open(lock);
    const { tools } = (await client.request("tools/list", {})) as { tools: { name: string }[] };
    expect(tools.filter(({ name }) => /permission|answer|request/i.test(name))).toEqual([]);
    for (const method of ["permission_request", "permission_wanted", "permissions/answer"]) {
      for (const prefix of ["", "editor/"]) {
        const refused = client.request(prefix + method, { id, allow: true });
        expect(await outcomeOf(refused)).toThrow();
      }
    }
    expect((await editor.requests()).map((request) => request.id)).toEqual([id]);
    // The request does not need the server, either.
    const pid = await editor.neovim.lua<number>(
      `return require("claude-code").status().process_id`,
    );
    process.kill(pid, "SIGKILL");
    await editor.answer(id, "{ allow = false }");
    expect(await output).toMatchObject({ behavior: "deny" });
  });
});
