import { join } from "node:path";
import { UserError } from "../../lib/errors";
import { gitFolder } from "../../lib/git-folder";
import { isBelow, isThere, realPath } from "../../lib/paths";
import { type BranchPoint, branchPoint, type Difference, differencesFrom } from "../git/branch";
import { type CommittedFile, committedFiles } from "../git/committed";
import { Git } from "../git/run";
import { hashOf, MOST_TEXT_BYTES } from "../journal/blobs";
import { reviewRoot } from "../journal/folder";
import { type Lines, linesOf, opaqueLines } from "../weave/lines";
import type { Change } from "../weave/row";
import { Weave } from "../weave/weave";
import { asLines } from "./contents";
import type { OnDisk } from "./disk";
import { ReviewedProject } from "./reviewed-project";
import { type FileMark, TrackedFile } from "./tracked-file";

/** The base texts of more files are not read. */
const MOST_FILES = 2_000;
const REGULAR = 0o100000;
const SYMLINK = 0o120000;
const DELETED: OnDisk = { lines: [], mode: undefined, stamp: "deleted" };

/** Whoever made a branch: whatever a text has otherwise than the base is of this one change. */
export const BRANCH: Change = { id: "branch", session: "", tool: "branch", at: 0 };

/** A branch to be read: where it is, and its base. */
export interface BranchRequest {
  /** A folder in the work tree. */
  root: string;
  base?: string | undefined;
}

/**
 * The branch of a work tree against where it began, read like a project whose journal holds one change.
 * What `known` has read of the same branch is not read again. `paths` are files or folders, `unsaved` those that
 * a buffer has with another text: all absolute. Throws UserError.
 */
export async function readBranch(
  { root: folder, base }: BranchRequest,
  paths: readonly string[],
  unsaved: readonly string[],
  known?: BranchProject,
): Promise<BranchProject> {
  const root = reviewRoot(folder);
  const git = gitFolder(root) === undefined ? undefined : Git.in(root);
  if (!git) throw new UserError(`${root} is in no git repository, or there is no git`);
  const point = await git.run(branchPoint(root, base));
  const isSame = known?.root === root && known.point.commit === point.commit;
  const project = isSame ? known : new BranchProject(root);
  project.point = point;
  await project.read(git, paths, unsaved);
  return project;
}

/** Nothing of it is recorded, and nothing decided. */
export class BranchProject extends ReviewedProject {
  point: BranchPoint = { base: "", commit: "" };
  declare files: Map<string, BranchFile>;

  override refresh(): void {}
  override async catchUp(): Promise<void> {}

  /** Also again, when the branch or its files have changed. */
  async read(git: Git, paths: readonly string[], unsaved: readonly string[]): Promise<void> {
    const { commit } = this.point;
    const within = this.#below(paths.map((path) => realPath(path)));
    const { files, submodules } = await git.run(differencesFrom(this.root, commit, within));
    // A sparse checkout lacks files that git counts as there; a name that is not UTF-8 cannot be read.
    const all = [...files].filter(
      ([path, { modes }]) => !modes[1] || isThere(join(this.root, path)),
    );
    const changed = new Map(all.slice(0, MOST_FILES));
    const wanted = [...new Set([...changed.keys(), ...this.#below(unsaved)])];
    const unread = wanted.filter((path) => !this.files.has(path));
    const committed = await git.run(committedFiles(commit, unread));
    if (!committed) throw new UserError(`git cannot read ${commit} in ${this.root}`);
    for (const path of unread) {
      const base = committed.get(path);
      if (base || changed.has(path)) this.files.set(path, new BranchFile(path, this, base));
    }
    for (const [path, file] of this.files) file.take(changed.get(path));
    const left = submodules.map((path) => `the submodule ${path} is left out`);
    const cut = `only ${MOST_FILES} of ${all.length} files are listed: name a folder of them`;
    this.incomplete = all.length > MOST_FILES ? [...left, cut] : left;
  }

  /** Git finds no file behind a symlink that took the place of its folder: what is there is another one. */
  protected override diskOf(file: BranchFile, known?: OnDisk): OnDisk {
    const disk = super.diskOf(file, known);
    return "problem" in disk && file.isDeleted ? DELETED : disk;
  }

  /** The file at an absolute path. */
  at(path: string): BranchFile | undefined {
    return isBelow(path, this.root) ? this.files.get(this.relativePath(path)) : undefined;
  }

  #below(paths: readonly string[]): string[] {
    const inside = paths.filter((path) => isBelow(path, this.root));
    return inside.map((path) => this.relativePath(path) || ".");
  }
}

/** What a work tree has of a file, against the commit. */
class BranchFile extends TrackedFile {
  override readonly author = BRANCH;
  readonly #base: Weave;
  #difference: Difference | undefined;

  constructor(
    path: string,
    private readonly project: BranchProject,
    private readonly committed: CommittedFile | undefined,
  ) {
    super(path, project.contents);
    this.#base = Weave.of(committed ? linesIn(committed, path) : []);
  }

  override get weave(): Weave {
    return this.#base;
  }

  get isDeleted(): boolean {
    return this.#difference?.modes[0] !== 0 && this.#difference?.modes[1] === 0;
  }

  override get marks(): readonly FileMark[] {
    const by = { by: BRANCH, step: 0 };
    const [before, after] = this.#difference?.modes ?? [0, 0];
    const isOther = before !== after && isRegular(before) && isRegular(after);
    return [
      // After it is what the disk has.
      ...(isOther ? [{ ...by, kind: "mode", mode: [before & 0o777, 0] } as const] : []),
      ...(this.project.problem(this) ? [{ ...by, kind: "unknown" } as const] : []),
    ];
  }

  /** What git says of it now; undefined: it is as it was. */
  take(difference: Difference | undefined): void {
    if (Bun.deepEquals(difference, this.#difference)) return;
    this.#difference = difference;
    this.from = difference?.from;
    this.symlink = this.committed?.symlink === true || difference?.modes[1] === SYMLINK;
    this.version++;
  }
}

function isRegular(mode: number): boolean {
  return (mode & 0o170000) === REGULAR;
}

/** What cannot be read, or is too large to be compared, is something that is no text. */
function linesIn({ bytes, symlink }: CommittedFile, path: string): Lines {
  if (!bytes || bytes.length > MOST_TEXT_BYTES) return opaqueLines(hashOf(Buffer.from(path)));
  return symlink ? linesOf(bytes) : asLines(bytes);
}
