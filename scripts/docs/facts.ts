import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

export interface Command {
  name: string;
  desc: string;
  nargs: string;
  bang: boolean;
  range?: string;
}

export interface Mapping {
  modes: string[];
  key: string;
  plug: string;
  desc: string;
}

export interface Option {
  key: string;
  /** Its type for LuaLS. */
  annotation: string;
  expected: string;
  default?: string;
  description: string;
}

/** What the plugin says of itself in a bare Neovim. */
export interface Facts {
  commands: Command[];
  /** Names of the <Plug> mappings, and the modes of each, one letter a mode. */
  plugs: Record<string, string>;
  suggested: Mapping[];
  options: Option[];
  /** The defaults of all options as a Lua table. */
  defaults: string;
  /** The first part of an option's key: its file. A Lua table. */
  option_files: string;
  /** Patterns of files that are private by default. */
  private_files: string[];
  /** Names of option types without `claude-code.`: what is behind them. */
  aliases: Record<string, string>;
  highlights: Highlight[];
  review_highlights: Highlight[];
  session_highlights: Highlight[];
}

export interface Highlight {
  name: string;
  link?: string;
  description: string;
}

export function readFacts(nvim: string): Facts {
  const runtime = `set runtimepath^=${ROOT.replaceAll(/[ ,\\]/g, "\\$&")}`;
  const script = join(ROOT, "scripts/docs/facts.lua");
  const args = ["--clean", "--headless", "--cmd", runtime, "-S", script, "-c", "qa!"];
  const run = Bun.spawnSync([nvim, ...args], { stdin: "ignore" });
  if (run.exitCode !== 0) throw new Error(`facts.lua failed: ${run.stderr}`);
  return JSON.parse(run.stdout.toString()) as Facts;
}

/** A command's documentation: the comment above the function that it runs, or whose name it is. */
export function commandTexts(): Record<string, string> {
  const plugin = readFileSync(join(ROOT, "plugin/claude-code.lua"), "utf8");
  const folder = join(ROOT, "lua/claude-code/commands");
  const files = readdirSync(folder).sort();
  const functions = files.map((file) => readFileSync(join(folder, file), "utf8")).join("\n");
  const texts: Record<string, string> = {};
  for (const [, name = "", method = ""] of plugin.matchAll(/define\(\s*"(\w+)",\s*"(\w+)"/g)) {
    const comment = new RegExp(`((?:^---.*\\n)+)function M\\.${method}\\(`, "m").exec(functions);
    texts[name] = withoutMarks(comment?.[1] ?? "");
  }
  for (const [, name = "", original] of plugin.matchAll(/alias\("(\w+)", "(\w+)"\)/g)) {
    texts[name] = `Another name for :${original}.`;
  }
  return texts;
}

/** The functions of `require("claude-code")`: their signatures and comments. */
export function luaFunctions(): { name: string; parameters: string; text: string }[] {
  const source = readFileSync(join(ROOT, "lua/claude-code/init.lua"), "utf8");
  const found = source.matchAll(/((?:^---.*\n)+)function M\.(\w+)\((.*)\)/gm);
  return [...found].map(([, comment = "", name = "", parameters = ""]) => ({
    name,
    parameters: parameters.replaceAll(/\w+/g, "{$&}"),
    text: withoutMarks(comment),
  }));
}

/** A comment's text, without the annotations of types. */
function withoutMarks(comment: string): string {
  const lines = comment.split("\n").filter((line) => !line.startsWith("---@"));
  return lines
    .map((line) => line.replace(/^--- ?/, ""))
    .join("\n")
    .trim();
}

/** The head of events.lua: which events there are, and their data. */
export function eventsText(): string {
  const text = readFileSync(join(ROOT, "lua/claude-code/lib/events.lua"), "utf8");
  return withoutMarks(text.match(/^(?:---.*\n)+/)?.[0] ?? "");
}
