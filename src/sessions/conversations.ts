import { existsSync } from "node:fs";
import { basename, join } from "node:path";
import { conversationsFolder, conversationsOf } from "../claude/config-dir";
import { isRunning, runningSessions } from "../claude/running-sessions";
import { isBelow, namesIn, newestFiles } from "../lib/paths";
import { readTranscript } from "./transcript";
import { worktreesAround } from "./worktrees";

/** A conversation with Claude that can be resumed. */
export interface Conversation {
  id: string;
  title: string;
  /** Where it was last: `--resume` finds it there only. */
  cwd: string;
  /** Whether that folder is still there. */
  exists: boolean;
  branch?: string;
  bytes: number;
  /** ms since 1970, of the last entry. */
  at: number;
}

const MOST = 200;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.jsonl$/;
/** The CLI cuts the name of a project's folder there, and adds a sum (2.1.330). */
const MOST_NAME = 200;

/**
 * The past conversations in these folders, and in all work trees of their repositories, newest first.
 * The CLI's own list has those of one folder. A session that runs is not among them: resumed a second
 * time, two would write into one file.
 */
export function pastConversations(folders: readonly string[]): Conversation[] {
  const places = [...new Set(folders.flatMap(worktreesAround))];
  const running = runningIds();
  const result: Conversation[] = [];
  for (const { path, at } of transcripts(places)) {
    if (result.length === MOST) break;
    const id = basename(path, ".jsonl");
    const transcript = running.has(id) ? undefined : readTranscript(path);
    const cwd = transcript?.folders.findLast((folder) => places.some((at) => isBelow(folder, at)));
    if (!transcript || cwd === undefined) continue;
    const { folders: _, ...rest } = transcript;
    result.push({ id, cwd, exists: existsSync(cwd), at, ...rest });
  }
  return result;
}

function runningIds(): Set<string | undefined> {
  return new Set(
    runningSessions()
      .filter(isRunning)
      .map(({ sessionId }) => sessionId),
  );
}

/** The files of conversations that may have been in these folders or below, the newest first. */
function transcripts(places: readonly string[]): { path: string; at: number }[] {
  const root = conversationsFolder();
  const prefixes = places.map((place) => conversationsOf(place).slice(0, MOST_NAME));
  const paths = namesIn(root)
    .filter((name) => prefixes.some((prefix) => name.startsWith(prefix)))
    .flatMap((name) => namesIn(join(root, name)).map((file) => join(root, name, file)));
  return newestFiles(paths.filter((path) => ID.test(basename(path))));
}
