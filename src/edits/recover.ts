import type { Log } from "../lib/log";
import { Operation } from "./operation";

/**
 * Completes or takes back the operations that were interrupted (by kill -9, or a power cut): a file is
 * never left in a half-done rename. Returns sentences for the user about files that were changed since,
 * and stay as they are.
 */
export function recoverOperations(log: Log): string[] {
  return Operation.all()
    .filter(({ isDone, isRunning, stored }) => (!isDone || stored.undoes) && !isRunning)
    .flatMap((operation) => {
      try {
        return recover(operation);
      } catch (error) {
        log.error(`${operation.stored.label} was interrupted, and cannot be taken back: ${error}`);
        return [];
      }
    });
}

function recover(operation: Operation): string[] {
  // A Neovim that is still busy must not begin now.
  operation.claim();
  if (operation.isDone || isComplete(operation)) {
    operation.markDone();
    return [];
  }
  return operation
    .takeBack()
    .map(
      (path) =>
        `${operation.stored.label} was interrupted and is taken back, without ${path}: it was changed since`,
    );
}

/** Is every file as the operation wanted it? */
export function isComplete(operation: Operation): boolean {
  return operation.stored.files.every((_, index) => operation.state(index) === "after");
}
