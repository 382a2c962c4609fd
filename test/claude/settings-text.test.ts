import fc from "fast-check";
import { hookSettings } from "../../src/claude/hooks";
import { withHooks, withoutHooks } from "../../src/claude/settings-text";
import { tries } from "../fuzz/effort";

const OURS = hookSettings((event) => `/bin/claude-code-nvim hook ${event}`);
const add = (text: string | undefined) => withHooks(text, OURS, "settings.local.json");
const remove = (text: string) => withoutHooks(text, "settings.local.json");

const FILES: [string, string][] = [
  ["nothing but an object", "{}"],
  ["an object and a line end", "{}\n"],
  ["a key", '{\n  "a": 1\n}\n'],
  ["one line", '{"a": 1, "b": [1, 2]}'],
  ["tabs", '{\n\t"z": 1,\n\t"a": {"x": [ 1,2 ]}\n}\n'],
  [
    "four spaces, CRLF",
    '{\r\n    "permissions": {\r\n        "allow": ["Bash(ls)"]\r\n    }\r\n}\r\n',
  ],
  ["odd spacing", '{ "a" :1 ,\n\n   "b":  [ ]  }  \n\n'],
  ["empty hooks", '{\n  "hooks": {},\n  "a": 1\n}\n'],
  ["an empty list", '{\n  "hooks": {\n    "Stop": []\n  }\n}\n'],
  [
    "other hooks",
    '{\n  "hooks": {\n    "Stop": [ {"hooks": [{"type":"command","command":"make lint"}]} ],\n    "PreToolUse": [\n      {\n        "matcher": "Bash",\n        "hooks": [{ "type": "command", "command": "true" }]\n      }\n    ]\n  },\n  "unknown": {"deep": [1, {"ü": "\\u00e9"}]}\n}',
  ],
  ["a byte order mark", '\uFEFF{\n  "a": 1\n}\n'],
];

describe("hooks in a settings file", () => {
  test.each(FILES)("keeps the bytes of everything else: %s", (_name, text) => {
    const after = add(text);
    // The old text remains in order, with only insertions in between.
    expect(isSubsequence(text.replace(/\{\s*\}|\[\s*\]/g, ""), after)).toBe(true);
    const before = JSON.parse(text.replace("\uFEFF", ""));
    const value = JSON.parse(after.replace("\uFEFF", ""));
    for (const [event, groups] of Object.entries(OURS)) {
      expect(value.hooks[event]).toEqual([...(before.hooks?.[event] ?? []), ...groups]);
    }
    expect({ ...value, hooks: 0 }).toEqual({ ...before, hooks: 0 });
    expect(add(after)).toBe(after);
    // Taken out again, the value is as before, but for what was empty.
    for (const [event, groups] of Object.entries(before.hooks ?? {})) {
      if ((groups as unknown[]).length === 0) delete before.hooks[event];
    }
    if (before.hooks && Object.keys(before.hooks).length === 0) delete before.hooks;
    expect(JSON.parse(remove(after).replace("\uFEFF", ""))).toEqual(before);
  });

  test("writes a new file as a user would", () => {
    const text = add(undefined);
    expect(text).toStartWith(
      '{\n  "hooks": {\n    "SessionStart": [\n      {\n        "hooks": [\n',
    );
    expect(text).toEndWith("\n  }\n}\n");
    expect(JSON.parse(text)).toEqual({ hooks: OURS });
  });

  test("points hooks of an older path to the new one, in place", () => {
    const old = withHooks(
      '{"a": 1}',
      hookSettings((event) => `'/old dir/claude-code-nvim' hook ${event}`),
      "x",
    );
    const renewed = add(old);
    expect(JSON.parse(renewed)).toEqual({ a: 1, hooks: OURS });
  });

  test("gives a hook enough time, and keeps more than that", () => {
    const timeouts = (stop: number, edit: number) => {
      const hooks = structuredClone(OURS);
      for (const [event, timeout] of [
        ["Stop", stop],
        ["PostToolUse", edit],
      ] as const) {
        Object.assign(hooks[event]?.[0]?.hooks[0] ?? {}, { timeout });
      }
      return JSON.stringify({ hooks });
    };
    const enough = OURS.Stop?.[0]?.hooks[0]?.timeout ?? 0;
    expect(add(timeouts(15, 100))).toBe(timeouts(enough, 100));
  });

  test("gives an older hook the matcher of this version, unless others share its group", () => {
    const [group] = structuredClone(OURS.PostToolUse ?? []);
    const older = { hooks: { PostToolUse: [{ ...group, matcher: "Edit|Write" }] } };
    expect(JSON.parse(add(JSON.stringify(older)))).toEqual({ hooks: OURS });
    older.hooks.PostToolUse[0]?.hooks?.push({ type: "command", command: "theirs", timeout: 1 });
    const shared = JSON.parse(add(JSON.stringify(older)));
    expect(shared.hooks.PostToolUse[0].matcher).toBe("Edit|Write");
  });

  test("keeps another's hook in our group", () => {
    const value = JSON.parse(add("{}"));
    value.hooks.Stop[0].hooks.push({ type: "command", command: "theirs" });
    const left = JSON.parse(remove(JSON.stringify(value, null, 2)));
    expect(left).toEqual({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "theirs" }] }] },
    });
  });

  test.each([
    ["a trailing comma", '{"a": 1,}', "not valid JSON"],
    ["a list", "[]", "not a JSON object"],
    ["null", "null", "not a JSON object"],
    ["hooks that are a list", '{"hooks": []}', '"hooks" in settings.local.json'],
    ["an event that is no list", '{"hooks": {"Stop": {}}}', '"hooks" in settings.local.json'],
    ["a key twice", '{"hooks": {"Stop": []}, "hooks": {}}', "cannot be edited without harm"],
  ])("refuses %s", (_name, text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  test("changes nothing but our hooks in any settings, and restores them", () => {
    const settings = fc.dictionary(
      fc.string().filter((key) => key !== "hooks" && key !== "__proto__"),
      fc.jsonValue(),
    );
    const layout = fc.constantFrom(undefined, 2, 4, "\t");
    fc.assert(
      fc.property(settings, layout, (value, space) => {
        const text = JSON.stringify(value, null, space);
        const after = add(text);
        expect(JSON.parse(after)).toEqual({ ...JSON.parse(text), hooks: OURS });
        expect(JSON.parse(remove(after))).toEqual(JSON.parse(text));
      }),
      { numRuns: tries(300) },
    );
  });
});

function isSubsequence(part: string, whole: string): boolean {
  let from = 0;
  for (const char of part) {
    from = whole.indexOf(char, from) + 1;
    if (from === 0) return false;
  }
  return true;
}
