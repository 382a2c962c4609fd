import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const ROOT = join(import.meta.dir, "../..");

export interface Subcommand {
  /** For example "diff accept"; "" for `:Claude` alone. */
  name: string;
  args?: string;
  bang: boolean;
  range?: "lines" | "session";
}

/** Another name for a subcommand. */
export interface Command {
  name: string;
  desc: string;
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
  /** The parts of the option. */
  fields?: { name: string; default: string; effect: string }[];
}

/** The plugin's description of itself, from a bare Neovim. */
export interface Facts {
  subcommands: Subcommand[];
  commands: Command[];
  /** The modes of each <Plug> mapping, one letter for each. */
  plugs: Record<string, { modes: string; desc: string }>;
  suggested: Mapping[];
  options: Option[];
  /** Patterns of files that are private by default. */
  private_files: string[];
  highlights: Highlight[];
  review_highlights: Highlight[];
  session_highlights: Highlight[];
  transcript_highlights: Highlight[];
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

/** The documentation of each subcommand: the comment above its entry. */
export function commandTexts(): Record<string, string> {
  const folder = join(ROOT, "lua/claude-code/commands");
  const files = readdirSync(folder).map((file) => readFileSync(join(folder, file), "utf8"));
  const entry = /((?:^ {2}---.*\n)+) {2}(?:\["(.*)"\]|(\w+)) = /gm;
  return Object.fromEntries(
    [...files.join("\n").matchAll(entry)].map(([, comment = "", quoted, bare]) => [
      quoted ?? bare ?? "",
      withoutMarks(comment.replaceAll(/^ {2}/gm, "")),
    ]),
  );
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

/** The text of a comment, without annotations. */
function withoutMarks(comment: string): string {
  const lines = comment.split("\n").filter((line) => !line.startsWith("---@"));
  return lines
    .map((line) => line.replace(/^--- ?/, ""))
    .join("\n")
    .trim();
}

/** The head of events.lua, which lists the events and their data. */
export function eventsText(): string {
  const text = readFileSync(join(ROOT, "lua/claude-code/lib/events.lua"), "utf8");
  return withoutMarks(text.match(/^(?:---.*\n)+/)?.[0] ?? "");
}
