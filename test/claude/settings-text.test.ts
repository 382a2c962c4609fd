import fc from "fast-check";
import { withoutPlugin, withPlugin } from "../../src/claude/settings-text";
import { tries } from "../fuzz/effort";

const FOLDER = "/data/claude-plugin/current";
const NAME = "claude-code-nvim-0123abcd";
const SOURCE = { folder: FOLDER, marketplace: NAME };
const add = (text: string | undefined) => withPlugin(text, SOURCE, "settings.local.json");
const remove = (text: string) => withoutPlugin(text, "settings.local.json");

const MARKETPLACES = { [NAME]: { source: { source: "directory", path: FOLDER } } };
const ENABLED = { [`claude-code-nvim@${NAME}`]: true };

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
  ["other plugins", '{\n  "enabledPlugins": {\n    "b@c": false\n  },\n  "a": 1\n}\n'],
  [
    "other hooks",
    '{\n  "hooks": {\n    "Stop": [ {"hooks": [{"type":"command","command":"make lint"}]} ],\n    "PreToolUse": [\n      {\n        "matcher": "Bash",\n        "hooks": [{ "type": "command", "command": "true" }]\n      }\n    ]\n  },\n  "unknown": {"deep": [1, {"ü": "\\u00e9"}]}\n}',
  ],
  ["a byte order mark", '\uFEFF{\n  "a": 1\n}\n'],
];

describe("the plugin in a settings file", () => {
  test.each(FILES)("keeps the bytes of everything else: %s", (_name, text) => {
    const after = add(text);
    // The old text remains in order, with only insertions in between.
    expect(isSubsequence(text.replace(/\{\s*\}|\[\s*\]/g, ""), after)).toBe(true);
    const before = JSON.parse(text.replace("\uFEFF", ""));
    expect(JSON.parse(after.replace("\uFEFF", ""))).toEqual({
      ...before,
      extraKnownMarketplaces: MARKETPLACES,
      enabledPlugins: { ...before.enabledPlugins, ...ENABLED },
    });
    expect(add(after)).toBe(after);
    expect(JSON.parse(remove(after).replace("\uFEFF", ""))).toEqual(before);
  });

  test("restores every byte when it is removed", () => {
    for (const name of [
      "other hooks",
      "other plugins",
      "four spaces, CRLF",
      "a key",
      "tabs",
      "one line",
    ]) {
      const text = FILES.find(([known]) => known === name)?.[1] as string;
      expect(remove(add(text))).toBe(text);
    }
  });

  test("writes a new file as a user would", () => {
    const text = add(undefined);
    expect(text).toStartWith(
      '{\n  "extraKnownMarketplaces": {\n    "claude-code-nvim-0123abcd": {\n',
    );
    expect(text).toEndWith("\n  }\n}\n");
  });

  test("points an older folder to the new one, and enables what the user disabled", () => {
    for (const marketplace of [NAME, "claude-code-nvim-deadbeef"]) {
      const old = withPlugin('{"a": 1}', { folder: "/old", marketplace }, "x");
      expect(JSON.parse(add(old.replace("true", "false")))).toEqual(JSON.parse(add('{"a": 1}')));
    }
  });

  test("replaces the hooks of version 0.1, and keeps other hooks in their group", () => {
    const ours = { type: "command", command: "'/old dir/claude-code-nvim' hook stop", timeout: 75 };
    const theirs = { type: "command", command: "theirs" };
    const hooks = { Stop: [{ hooks: [ours, theirs] }], SessionEnd: [{ hooks: [ours] }] };
    expect(JSON.parse(add(JSON.stringify({ hooks })))).toEqual({
      ...JSON.parse(add(undefined)),
      hooks: { Stop: [{ hooks: [theirs] }] },
    });
    expect(JSON.parse(remove(JSON.stringify({ hooks: { SessionEnd: hooks.SessionEnd } })))).toEqual(
      {},
    );
  });

  test.each([
    ["a comment", '{\n  // mine\n  "a": 1\n}', "not valid JSON"],
    ["a trailing comma", '{"a": 1,}', "not valid JSON"],
    ["cut short", '{"a": ', "not valid JSON"],
    ["a list", "[]", "not a JSON object"],
    ["null", "null", "not a JSON object"],
    ["hooks that are a list", '{"hooks": []}', '"hooks" in settings.local.json'],
    ["an event that is not a list", '{"hooks": {"Stop": {}}}', '"hooks" in settings.local.json'],
    [
      "plugins that are a list",
      '{"enabledPlugins": []}',
      '"enabledPlugins" in settings.local.json',
    ],
    [
      "a key twice",
      '{"enabledPlugins": {"a": 1}, "enabledPlugins": {}}',
      "cannot be edited without harm",
    ],
  ])("refuses %s", (_name, text, message) => {
    expect(() => add(text)).toThrow(message);
  });

  test("changes nothing else in any settings, and restores them", () => {
    const settings = fc.dictionary(
      fc
        .string()
        .filter((key) => !/^(hooks|enabledPlugins|extraKnownMarketplaces|__proto__)$/.test(key)),
      fc.jsonValue(),
    );
    const layout = fc.constantFrom(undefined, 2, 4, "\t");
    fc.assert(
      fc.property(settings, layout, (value, space) => {
        const text = JSON.stringify(value, null, space);
        const after = add(text);
        expect(JSON.parse(after)).toEqual({ ...JSON.parse(text), ...JSON.parse(add(undefined)) });
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
