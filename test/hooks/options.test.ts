import { OLDEST, rows } from "#test";
import { Project } from "./project";

/*
 * The options diagnostics.* of setup(), as hooks obey them. They only sort lists, so the oldest Neovim
 * stands for all.
 */
const GO = { continue: true } as const;

describe("the options", () => {
  let project: Project;
  let count = 0;
  let session: { session_id: string };
  beforeAll(async () => {
    project = await Project.open(OLDEST);
  });
  afterAll(() => project[Symbol.asyncDispose]());
  beforeEach(() => {
    session = { session_id: `session-${++count}` };
  });

  const options = (source: string) =>
    project.neovim.lua(`require("port").config.setup({ diagnostics = ${source} })`);

  /** The Stop hook's first line after an edit of a file with this text. */
  async function verdict(text: string, name = `file-${count}.txt`): Promise<string | undefined> {
    await project.edit(name, text, session);
    return (await project.stop(session)).reason?.split(" Use ")[0];
  }

  const found = (what: string) => `Found ${what} in edited files.`;
  const LESSER = found("0 errors and 0 warnings (and 1 of lesser severity)");
  test.each(
    rows(`
    { block = false }                | ERROR     |
    { severity = "error" }           | WARN      |
    { severity = "error" }           | ERROR WARN | ${found("1 error and 0 warnings")}
    { severity = "hint" }            | HINT      | ${LESSER}
    { severity = "information" }     | INFO HINT | ${LESSER}
    { ignore_sources = { "marks" } } | ERROR     |
    { ignore_sources = { "cspell" } } | ERROR    | ${found("1 error and 0 warnings")}`),
  )("%s decides about %s", async (source = "", words = "", expected) => {
    await options(source);
    expect(await verdict(words.replaceAll(" ", "\n"))).toBe(expected || undefined);
  });

  test.each([
    ["*.gen.ts", "deep/a.gen.ts", true],
    ["vendor/**", "vendor/x/y.lua", true],
    ["vendor/**", "lib/vendor.lua", false],
  ])("reads ignore_files = %s for %s: %p", async (glob, name, ignored) => {
    await options(`{ ignore_files = { "${glob}" } }`);
    expect((await verdict("ERROR\n", name)) === undefined).toBe(ignored);
  });

  test("blocks a prompt twice by retries = 2", async () => {
    await options("{ retries = 2 }");
    await project.edit("twice.txt", "ERROR\n", session);
    const stop = (active: boolean) =>
      project.stop({ ...session, prompt_id: "p", stop_hook_active: active });
    expect(await stop(false)).toMatchObject({ decision: "block" });
    expect(await stop(true)).toMatchObject({ decision: "block" });
    expect(await stop(true)).toEqual(GO);
  });

  test("does not count old problems with only_new, moved or not", async () => {
    await options("{ only_new = true }");
    const name = `old-${count}.txt`;
    await project.neovim.command(`edit ${project.write(name, "ERROR old\n")}`);
    await project.edit(name, "moved\nERROR old\n", session);
    expect(await project.stop(session)).toEqual(GO);
    await project.edit(name, "ERROR old\nERROR old\nERROR new\n", session);
    expect((await project.stop(session)).reason).toContain("Found 2 errors");
  });

  test("counts everything in a new file with only_new, and nothing in one that was not open", async () => {
    await options("{ only_new = true }");
    await project.edit(`closed-${count}.txt`, "ERROR\n", session);
    expect(await project.stop(session)).toEqual(GO);
    const created = { ...session, tool_response: { type: "create" } };
    await project.edit(`made-${count}.txt`, "ERROR\n", created);
    expect((await project.stop(session)).reason).toContain("Found 1 error");
  });

  const context = async (text: string, more: object = {}) => {
    const { output } = await project.edit(`edited-${count}.txt`, text, { ...session, ...more });
    return (output as { hookSpecificOutput?: { additionalContext: string } } | undefined)
      ?.hookSpecificOutput?.additionalContext;
  };

  test.each([
    ['{ after_edit = "auto" }', true],
    ["{ after_edit = true }", true],
    ["{ after_edit = false }", false],
  ])("reports new problems by %s: %p", async (source, reported) => {
    await options(source);
    const text = await context("ERROR\n", { tool_response: { type: "create" } });
    expect(text?.startsWith(`New problems in edited-${count}.txt after this edit`)).toBe(
      reported || undefined,
    );
  });

  test("cuts many problems after an edit", async () => {
    await options("{}");
    const lines = (await context("ERROR\n".repeat(50)))?.split("\n");
    expect(lines).toHaveLength(22);
    expect(lines?.at(-1)).toBe("… and 30 more");
  });
});
