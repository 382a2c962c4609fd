import type * as v from "valibot";
import { Failure } from "../lib/errors";
import { counted, visibleLine } from "../lib/visible";
import { DECIDED_MS } from "./journal/prune";
import { entriesOf, recordedScope } from "./projects";
import { isComparing } from "./record/comparison-request";
import type * as requests from "./requests";
import type { Listing } from "./requests";
import { versionOf } from "./shown";
import { hashOfLines } from "./state/contents";
import { countsOf, type Entry } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";
import type { Turn } from "./state/sessions";
import { scopeOf, type TrackedFile } from "./state/tracked-file";
import { FILE } from "./weave/lines";
import { isClaude, type Mark, type Scope } from "./weave/row";

type Wanted = v.InferOutput<typeof requests.Turn>;

/** Characters of a prompt in a title or a question. */
const MAX_PROMPT = 40;
/** Characters of a session's id in a question. */
const MAX_SESSION = 8;
/** The hook may record a prompt this much later than the CLI got it, or earlier: the CLI waits for its hooks. */
const MAX_HOOK_MS = 10_000;
const MAX_EARLY_MS = 3_000;

/** The turns of a session, by default of the one with the last prompt; undefined if none is recorded. */
function turnsIn(projects: readonly ReviewedProject[], wanted: string | undefined) {
  const found = projects.flatMap((project) => {
    const session = wanted ?? project.sessions.latest;
    const turns = session === undefined ? [] : project.sessions.turns(session);
    const [last] = turns.slice(-1);
    return session !== undefined && last ? [{ project, session, turns, last }] : [];
  });
  return found.sort((one, other) => other.last.at - one.last.at)[0];
}

/** Each in one word, which needs no quotes: "3:rename-it". */
export function completionsOf(
  projects: readonly ReviewedProject[],
  { session, lead }: v.InferOutput<typeof requests.Turns>,
): string[] {
  const { turns = [] } = turnsIn(projects, session) ?? {};
  const words = turns.map(({ number, text }) => {
    const prompt = visibleLine(text, MAX_PROMPT).replaceAll(/["'\\|]/g, "");
    return `${number}:${prompt.replaceAll(/\s+/g, "-")}`;
  });
  return [...words, "last"].reverse().filter((word) => word.startsWith(lead));
}

/** Without recorded prompts the last turn is all that its session did. Throws Failure. */
export function turnScope(
  projects: readonly ReviewedProject[],
  { session, turn: wanted, at }: Wanted,
) {
  const found = turnsIn(projects, session);
  const { turns = [], last } = found ?? {};
  const turn =
    at !== undefined ? turnAt(turns, at) : wanted === undefined ? last : turns[wanted - 1];
  if ((wanted ?? at) !== undefined && !turn) {
    const known = last ? `it has turns 1 to ${last.number}` : "no prompt is recorded";
    throw new Failure(
      `this session has no ${wanted === undefined ? "such turn" : `turn ${wanted}`}: ${known}`,
    );
  }
  if (!found || !turn) return { scope: "turn", session, name: "its last turn" };
  const works = found.project.sessions.isWorking(found.session);
  return {
    scope: "turn",
    session: found.session,
    turn: turn.number,
    project: found.project.root,
    name: nameOf(turn),
    ...(session === undefined && { of: `session ${found.session.slice(0, MAX_SESSION)}` }),
    works,
    /** The changes of its last command may not be recorded yet. */
    compares: isComparing(found.project.folder),
  };
}

/** Ids would not do: a prompt's hook may get the id of the prompt before it (2.1.332). */
function turnAt(turns: readonly Turn[], prompt: number): Turn | undefined {
  const near = turns.filter(({ at }) => at > prompt - MAX_EARLY_MS && at - prompt < MAX_HOOK_MS);
  const distance = ({ at }: Turn) => Math.abs(at - prompt);
  return near.sort((one, other) => distance(one) - distance(other))[0];
}

function nameOf({ number, text }: Turn): string {
  const prompt = visibleLine(text, MAX_PROMPT);
  return `turn ${number}${prompt && ` ‹${prompt}›`}`;
}

/** Lists the files of a whole scope: Neovim asks its user, and then decides about them. Throws Failure if there are none. */
export async function planOf(
  projects: readonly ReviewedProject[],
  request: v.InferOutput<typeof requests.Plan>,
) {
  const all: Entry[] = [];
  const files: { path: string }[] = [];
  const plan: string[] = [];
  let [committed, gone, stuck] = [0, 0, 0];
  for (const project of projects) {
    const found = await entriesOf(project, request);
    plan.push(planVersion(project, request, found));
    const scope = scopeOf(recordedScope(project, request));
    const entries = found.filter((entry) => request.scope !== "since" || canRestore(entry, scope));
    stuck += found.length - entries.length;
    const kept = project.decisions.filter((one) => one.type === "keep" && one.why === "commit");
    const inCommits = new Set(kept.flatMap(({ files }) => files.map(({ path }) => path)));
    committed += entries.filter(({ file }) => inCommits.has(file.path)).length;
    gone += [...project.files.values()].filter((file) => isGone(project, file, scope)).length;
    files.push(...entries.map(({ file }) => ({ path: project.path(file) })));
    all.push(...entries);
  }
  const { last, turns = [] } = turnsIn(projects, request.session) ?? {};
  const { name, session = "", turn = 0 } = request;
  const { added, removed } = countsOf(all);
  const conflicts = all.flatMap(({ hunks }) => hunks.filter(({ conflict }) => conflict)).length;
  const rest = [
    [conflicts, "hunk", "with your edits will be asked about"],
    [committed, "file", "changed in commits, which stay"],
    [gone, "file", "that you removed or moved will not come back"],
    [stuck, "file", "cannot be restored: :Claude undo says why"],
  ] as const;
  const notes = rest.flatMap(([count, noun, words]) => {
    return count > 0 ? [`${counted(count, noun)} ${words}`] : [];
  });
  const isRunning = projects.some(({ sessions }) => sessions.unended.get(session)?.background);
  if (isRunning) notes.push("Claude's agents or commands still run in the background");
  const isOld = (turns[turn - 1]?.at ?? Number.POSITIVE_INFINITY) < Date.now() - DECIDED_MS;
  if (isOld) notes.push("What you kept more than a week ago is no longer known, and stays");
  if (files.length === 0) {
    const isSince = request.scope === "since";
    const what = `nothing of ${isSince ? "what Claude changed since " : ""}${name} is left`;
    throw new Failure([what, ...(isSince ? notes : [])].join("; "));
  }
  const changed = `${counted(files.length, "file")} as before ${name} (+${removed} −${added})`;
  const question = `Restore ${changed}?${notes.map((note) => ` ${note}.`).join("")}`;
  return { files, plan, last: last?.number, question };
}

/** Whether `undo` would not refuse the file. */
function canRestore({ file, kind, view, cannotUndo }: Entry, scope: Scope): boolean {
  if (cannotUndo) return false;
  const isLeft = view !== undefined && view.weave.base(scope).length > 0;
  return !(isLeft && (kind === "renamed" || file.symlink));
}

/** Changes with the files of the scope, and when a turn begins. */
export function planVersion(
  project: ReviewedProject,
  request: Listing,
  entries: readonly Entry[],
): string {
  const scope = recordedScope(project, { ...request, last: undefined });
  const files = entries.map(({ file, view, marks }) => {
    const texts = view && [view.lines, view.weave.base(scopeOf(scope))];
    return [file.path, texts?.map(hashOfLines), marks.length];
  });
  return versionOf([scope, files]);
}

/** Whether the user removed a file that the scope's changes are about. */
function isGone(project: ReviewedProject, file: TrackedFile, scope: Scope): boolean {
  const view = project.view(file);
  if (!view || view.lines.length > 0) return false;
  const isIn = (mark: Mark | undefined) =>
    mark !== undefined && isClaude(mark.by) && scope.includes(mark.by);
  const isRemoved = view.weave.rows.some(({ line, deleted }) => {
    return line === FILE && deleted?.by === "user" && deleted.undo === undefined;
  });
  return isRemoved && view.weave.rows.some((row) => isIn(row.inserted) || isIn(row.deleted));
}
