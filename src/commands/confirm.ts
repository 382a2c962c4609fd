import { isatty } from "node:tty";
import { print } from "../lib/output";

/** Asks the user at the terminal; without one, says how to go on, and the answer is no. */
export function isConfirmed(): boolean {
  if (!isatty(0)) {
    print("Nothing was changed. Use --yes to do this without a question.\n");
    return false;
  }
  return /^y(es)?$/i.test(prompt("Do this? [y/N]") ?? "");
}
