import { UserError } from "../lib/errors";
import { Git, type GitWork } from "../review/git/run";

/** All commands of git for one question. */
export const GIT_MS = 5 * 60_000;

/** What git answers in a folder. Throws a UserError with the problem, where that is undefined. */
export async function ask<T>(folder: string, work: GitWork<T | undefined>, problem?: string) {
  const answer = await Git.in(folder)?.run(work, GIT_MS);
  if (answer === undefined) throw new UserError(problem ?? `git fails in ${folder}.`);
  return answer;
}
