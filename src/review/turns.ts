import { entriesOf } from "./projects";
import type { Listing } from "./requests";
import { countsOf, type Entry } from "./state/entry";
import type { ReviewedProject } from "./state/reviewed-project";

/** The turns of a session, by default of the one with the last prompt; undefined if none is recorded. */
export function turnsIn(projects: readonly ReviewedProject[], wanted?: string) {
  const found = projects.flatMap(({ sessions }) => {
    const session = wanted ?? sessions.latest;
    const turns = session === undefined ? [] : sessions.turns(session);
    const [last] = turns.slice(-1);
    if (session === undefined || !last) return [];
    return [{ session, turns, at: last.at, runs: sessions.isWorking(session) }];
  });
  return found.sort((one, other) => other.at - one.at)[0];
}

/** Lists what a whole scope is about. Neovim asks its user, and then decides about these paths. */
export async function planOf(projects: readonly ReviewedProject[], request: Listing) {
  const all: Entry[] = [];
  const paths: string[] = [];
  let committed = 0;
  for (const project of projects) {
    const entries = await entriesOf(project, request);
    const kept = project.decisions.filter((one) => one.type === "keep" && one.why === "commit");
    const inCommits = new Set(kept.flatMap(({ files }) => files.map(({ path }) => path)));
    committed += entries.filter(({ file }) => inCommits.has(file.path)).length;
    paths.push(...entries.map(({ file }) => project.path(file)));
    all.push(...entries);
  }
  return { paths, counts: countsOf(all), committed };
}
