import type { Waits } from "../journal/prune";
import { ALL } from "../weave/row";
import { entryOf } from "./entry";
import { ReviewedProject } from "./reviewed-project";

/**
 * Which files of a root's journal, as it is now, wait for a decision; also those that cannot be compared
 * with the disk. Throws the system's error.
 */
export function waitingIn(root: string): Waits {
  const project = new ReviewedProject(root);
  project.refresh();
  return (path) => {
    const file = project.files.get(path);
    if (!file) return false;
    return project.problem(file) !== undefined || entryOf(project, file, ALL) !== undefined;
  };
}
