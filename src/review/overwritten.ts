import { sameContent } from "./blobs";
import { committedFiles } from "./git/committed";
import { headCommit } from "./git/head";
import { repositoryAround } from "./git/nested";
import type { Content } from "./journal/record";
import { KnownContents } from "./record/known";
import { Project } from "./record/project";
import { callFields } from "./record/tool-call";

/**
 * Neovim has written over a text that it had not written itself, while a command of Claude's runs: what
 * differs from what is known of the file is the command's so far. Later it could not be set apart from
 * what the user saved with it. Throws the system's error.
 */
export async function recordOverwritten(
  root: string,
  path: string,
  bytes: Uint8Array,
): Promise<void> {
  const project = new Project(root);
  const known = new KnownContents(project);
  const window = known.running(undefined);
  if (!window) return;
  const before =
    known.before(path, window) ??
    known.candidates(path, false).next().value ??
    (await inHead(project, path));
  if (!before || "withheld" in before) return;
  const after = project.blobs.put(bytes);
  if (sameContent(before, after)) return;
  const files = [{ path, before, after }];
  project.append({ type: "change", ...callFields(window.call), source: "trees", files });
}

async function inHead(project: Project, path: string): Promise<Content | undefined> {
  const { root, git, blobs } = project;
  const head = git && headCommit(root);
  if (head === undefined || repositoryAround(root, path) !== "") return undefined;
  const files = await git?.run(committedFiles(head, [path]));
  const bytes = files?.get(path)?.bytes;
  return bytes && blobs.put(bytes);
}
