import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { claudeFolder } from "./config-dir";

const State = v.object({ status: v.string() });

/**
 * Whether the CLI with this process id asks its user something, so that Enter would be an answer. It
 * keeps its state in `sessions/PID.json` (measured with 2.1.330); one that cannot be read asks nothing.
 */
export async function isAsking(pid: number): Promise<boolean> {
  try {
    const text = await readFile(join(claudeFolder(), "sessions", `${pid}.json`), "utf8");
    return v.parse(State, JSON.parse(text)).status === "waiting";
  } catch {
    return false;
  }
}
