import { isDeepStrictEqual } from "node:util";
import { applyEdits, findNodeAtLocation, modify, parseTree } from "jsonc-parser";
import { message, UserError } from "../lib/errors";
import { isObject, type JsonObject } from "../lib/json";
import { type HookGroup, type HookSettings, isOurHook, ourHook } from "./hooks";

const BOM = "\uFEFF";

/**
 * The text of a settings file with our hooks in it: what is outside of `hooks` keeps its bytes. `text` is
 * undefined for a new file. Throws UserError for what is not a JSON object (comments
 * included: Claude Code would not read them either).
 */
export function withHooks(text = "", hooks: HookSettings, name: string): string {
  return edited(text, name, (all) => {
    for (const [event, groups] of Object.entries(hooks)) {
      for (const group of groups) addGroup(all, event, group);
    }
  });
}

/** The text without our hooks, and without the lists and objects that are empty thereby. */
export function withoutHooks(text: string, name: string): string {
  return edited(text, name, (all) => {
    for (const [event, groups] of Object.entries(all)) {
      if (!groups.some((group) => entriesOf(group).some(({ command }) => isOurHook(command))))
        continue;
      const left = groups.flatMap(withoutOurs);
      if (left.length > 0) all[event] = left;
      else delete all[event];
    }
  });
}

/** Adds the group, or points our hook that is there to the command, and gives it time enough. */
function addGroup(all: HookSettings, event: string, group: HookGroup): void {
  const [wanted] = group.hooks;
  if (!wanted) return;
  const groups = all[event] ?? [];
  all[event] = groups;
  const word = ourHook(wanted.command);
  for (const place of groups) {
    const entry = entriesOf(place).find(({ command }) => ourHook(command) === word);
    if (!entry) continue;
    entry.command = wanted.command;
    if (entry.timeout < wanted.timeout) entry.timeout = wanted.timeout;
    // An older version, or one without all answers, picked fewer tools. What stands beside our hook in its
    // group keeps its matcher.
    if (place.hooks.length > 1) return;
    if (group.matcher === undefined) delete place.matcher;
    else place.matcher = group.matcher;
    return;
  }
  groups.push(group);
}

function withoutOurs(group: HookGroup): HookGroup[] {
  const left = entriesOf(group).filter(({ command }) => !isOurHook(command));
  if (left.length === entriesOf(group).length) return [group];
  return left.length > 0 ? [{ ...group, hooks: left }] : [];
}

/** Another program may have put anything into the list of an event. */
function entriesOf(group: HookGroup | null): HookGroup["hooks"] {
  return Array.isArray(group?.hooks) ? group.hooks.filter(isObject) : [];
}

function edited(given: string, name: string, change: (hooks: HookSettings) => void): string {
  const bom = given.startsWith(BOM) ? BOM : "";
  const text = given.trim() === "" ? "{}\n" : given.slice(bom.length);
  const value = parsed(text, name);
  const before = hooksOf(value, name);
  const hooks = structuredClone(before);
  change(hooks);
  if (isDeepStrictEqual(hooks, before)) return given;
  const { hooks: _, ...others } = value;
  const isLeft = Object.keys(hooks).length > 0;
  const after = isLeft ? replaced(text, hooks) : removed(text);
  // There is no guessing in a user's file.
  if (isDeepStrictEqual(parsed(after, name), isLeft ? { ...others, hooks } : others))
    return bom + after;
  throw new UserError(
    `${name} cannot be edited without harm (does a key occur twice?); it was not changed`,
  );
}

function parsed(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new UserError(
      `${name} is not valid JSON (${message(error)}; comments are not allowed there): fix it first`,
    );
  }
  if (!isObject(value)) throw new UserError(`${name} is not a JSON object: fix it first`);
  return value;
}

function hooksOf({ hooks = {} }: JsonObject, name: string): HookSettings {
  if (isObject(hooks) && Object.values(hooks).every(Array.isArray)) return hooks as HookSettings;
  throw new UserError(`"hooks" in ${name} is not in Claude Code's format: fix it first`);
}

function removed(text: string): string {
  return applyEdits(text, modify(text, ["hooks"], undefined, {}));
}

/** `hooks` gets the file's line ends and indentation; jsonc-parser would change what is beside it, too. */
function replaced(text: string, hooks: HookSettings): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const unit = /^([ \t]+)\S/m.exec(text)?.[1] ?? "  ";
  const inLines = (value: object, outer: string) =>
    JSON.stringify(value, null, unit).replaceAll("\n", eol + outer);
  const root = parseTree(text);
  const last = root?.children?.at(-1);
  if (!root || !last) return text.replace(/\{\s*\}/, () => inLines({ hooks }, ""));
  const there = findNodeAtLocation(root, ["hooks"]);
  const indent = indentBefore(text, there?.parent?.offset ?? last.offset);
  if (there) {
    const end = there.offset + there.length;
    return text.slice(0, there.offset) + inLines(hooks, indent ?? "") + text.slice(end);
  }
  const end = last.offset + last.length;
  const gap = indent === undefined ? " " : eol + indent;
  return `${text.slice(0, end)},${gap}"hooks": ${inLines(hooks, indent ?? "")}${text.slice(end)}`;
}

/** The indentation of what begins its line at `offset`; undefined if something is before it. */
function indentBefore(text: string, offset: number): string | undefined {
  const before = text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
  return before.trim() === "" ? before : undefined;
}
