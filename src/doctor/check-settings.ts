import { type ParseError, parse, printParseErrorCode } from "jsonc-parser";
import { message } from "../lib/errors";
import { isObject } from "../lib/json";
import { readRegular } from "../lib/read-regular";
import type { Facts } from "./facts";
import { error, type Finding } from "./finding";

/**
 * Are Claude Code's own files JSON? Of one that is not it uses nothing: it asks at its start, and
 * `claude -p` goes on without it (measured with 2.1.330: no comments, no comma at the end; a byte
 * order mark does no harm).
 */
export function checkSettings({ settingsPaths, state }: Facts): Finding | undefined {
  for (const path of [...settingsPaths, state.path]) {
    const problem = problemIn(path);
    if (!problem) continue;
    const what = `${path} ${problem}: Claude Code uses nothing of it`;
    return error("settings-unreadable", what, `correct ${path}, then start \`claude\` again`);
  }
  return undefined;
}

function problemIn(path: string): string | undefined {
  let text: string;
  try {
    text = readRegular(path)
      .toString()
      .replace(/^\uFEFF/, "");
  } catch (failure) {
    const { code } = failure as { code?: string };
    const isThere = code !== "ENOENT" && code !== "ENOTDIR";
    return isThere ? `cannot be read (${code ?? message(failure)})` : undefined;
  }
  if (text.trim() === "") return undefined;
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { disallowComments: true });
  const [first] = errors;
  if (!first) return isObject(value) ? undefined : "is not a JSON object";
  const line = text.slice(0, first.offset).split("\n").length;
  const words = printParseErrorCode(first.error).replaceAll(/(?<=[a-z])[A-Z]/g, " $&");
  return `is not JSON (line ${line}: ${words.toLowerCase()})`;
}
