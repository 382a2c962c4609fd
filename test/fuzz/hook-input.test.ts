import fc from "fast-check";
import { EXECUTABLE, isolatedEnv, setDefaultTimeout, temporaryFolder } from "#test";
import { createdFile, editedPath, parseInput } from "../../src/hooks/input";
import { isAbsolute } from "../../src/lib/platform";
import { FUZZ_TIMEOUT_MS, tries } from "./effort";

setDefaultTimeout(FUZZ_TIMEOUT_MS);

const home = temporaryFolder();

/** Input as Claude Code writes it, or nearly so. */
const anything = fc.jsonValue();
const nearly = fc.record(
  {
    session_id: fc.oneof(fc.string(), anything),
    cwd: fc.oneof(fc.constantFrom("/", "/tmp", "relative", "\0"), anything),
    prompt_id: fc.oneof(fc.string(), anything),
    source: fc.oneof(fc.constantFrom("startup", "resume", "clear", "compact"), anything),
    stop_hook_active: fc.oneof(fc.boolean(), anything),
    tool_name: fc.oneof(
      fc.constantFrom("Edit", "Write", "MultiEdit", "NotebookEdit", "Bash", "mcp__x__y"),
      anything,
    ),
    tool_use_id: fc.oneof(fc.string(), anything),
    prompt: fc.oneof(fc.string(), anything),
    duration_ms: anything,
    background_tasks: anything,
    tool_input: fc.oneof(fc.record({ file_path: fc.oneof(fc.string(), anything) }), anything),
    tool_response: fc.oneof(
      fc.record({ originalFile: fc.oneof(fc.string(), anything) }),
      fc.record({
        bashEditDiff: fc.record(
          { files: fc.array(anything), changedFiles: fc.array(fc.string()), moreFiles: anything },
          { requiredKeys: [] },
        ),
      }),
      anything,
    ),
  },
  { requiredKeys: [] },
);
const input = fc.oneof(
  nearly.map((value) => JSON.stringify(value)),
  fc.json(),
  fc.string({ unit: "binary" }),
);

test("understands a hook's input, or refuses it with an explanation", () => {
  fc.assert(
    fc.property(input, (text) => {
      try {
        const parsed = parseInput(text);
        expect(parsed.session_id).not.toBe("");
        const path = editedPath(parsed, "/work");
        if (path !== undefined) expect(isAbsolute(path)).toBe(true);
        expect(createdFile(parsed)).toBeBoolean();
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
        expect((error as Error).message).not.toBe("");
      }
    }),
    { numRuns: tries(2000) },
  );
});

describe("a hook never holds Claude back by mistake", () => {
  test.each([
    "session-start",
    "user-prompt-submit",
    "pre-tool-use",
    "post-tool-use",
    "post-tool-use-failure",
    "subagent-stop",
    "stop",
    "session-end",
  ])("%s", async (event) => {
    await fc.assert(
      fc.asyncProperty(input, async (text) => {
        const child = Bun.spawn([EXECUTABLE, "hook", event], {
          cwd: home,
          env: isolatedEnv(home),
          stdin: Buffer.from(text),
          stdout: "pipe",
          stderr: "pipe",
        });
        const [output, complaints] = await Promise.all([
          new Response(child.stdout).text(),
          new Response(child.stderr).text(),
        ]);
        expect(await child.exited).toBe(0);
        expect(complaints).toBe("");
        if (output !== "") expect(JSON.parse(output)).not.toHaveProperty("decision", "block");
      }),
      { numRuns: tries(8) },
    );
  });
});
