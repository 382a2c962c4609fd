import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parse } from "jsonc-parser";
import { isObject } from "../lib/json";
import { isThere } from "../lib/paths";
import { readText } from "../lib/read-regular";
import type { Mapping } from "./path-map";

const FILES = [".devcontainer/devcontainer.json", ".devcontainer.json"];

/** More than any has: to parse 64 MB takes seconds. */
const MOST_BYTES = 1024 * 1024;

/**
 * The folders that are shared: those that the user has mapped, or else what the devcontainer.json around `folder`
 * says, up to its repository's root, or else `folder`, with the same path on both sides.
 */
export function mappingsOf(
  folder: string,
  given: Readonly<Record<string, string>> = {},
): Mapping[] {
  const mapped = Object.entries(given);
  if (mapped.length > 0) return mapped.map(([remote, host]) => ({ remote, host: withHome(host) }));
  for (let root = folder; dirname(root) !== root; root = dirname(root)) {
    const path = FILES.map((name) => join(root, name)).find(isThere);
    if (path !== undefined) return [{ remote: workspaceFolder(root, path), host: root }];
    if (isThere(join(root, ".git"))) break;
  }
  return [{ remote: folder, host: folder }];
}

/** As the CLI of devcontainers has it where the file names none. */
function workspaceFolder(root: string, path: string): string {
  const content = contentOf(path);
  const named = isObject(content) ? content.workspaceFolder : undefined;
  const folder = typeof named === "string" ? named : `/workspaces/${basename(root)}`;
  return folder.replaceAll(/\$\{localWorkspaceFolder(Basename)?\}/g, (_, isName) =>
    isName ? basename(root) : root,
  );
}

/** Undefined for a file that is nested too deep to be read, or too long. */
function contentOf(path: string): unknown {
  try {
    return parse(readText(path, MOST_BYTES) ?? "");
  } catch {
    return undefined;
  }
}

function withHome(path: string): string {
  return path.replace(/^~(?=\/|$)/, homedir());
}
