import { existsSync } from "node:fs";
import { writePrivateFile } from "./atomic-write";
import { removeFile } from "./paths";
import { readText } from "./read-regular";

/** A file that only its owner may read, and that we keep as it is to be for as long as we run. */
export class OwnFile {
  #written: string | undefined;

  constructor(readonly path: string) {}

  /** Writes by rename, but not again what is there: that costs a millisecond. Throws the system's error. */
  write(text: string): void {
    if (text === this.#written && existsSync(this.path)) return;
    writePrivateFile(this.path, text);
    this.#written = text;
  }

  /** Removes the file if it is still the one we wrote. Never throws. */
  remove(): void {
    if (this.#written !== undefined && readText(this.path) === this.#written) removeFile(this.path);
  }
}
