import { readFile, rm } from "node:fs/promises";
import { join } from "../../src/lib/platform";
import { newUser } from "../support/claude-home";

/** A new user with a project. */
export class User {
  root!: string;

  /** With these files in the project. */
  protected async arrive(files: Record<string, string>): Promise<void> {
    this.root = (await newUser(files)).root;
  }

  protected leave(): Promise<void> {
    return rm(this.root, { recursive: true, force: true, maxRetries: 5 });
  }

  get project(): string {
    return join(this.root, "project");
  }

  get home(): string {
    return join(this.root, "home");
  }

  path(name: string): string {
    return join(this.project, name);
  }

  onDisk(name: string): Promise<string> {
    return readFile(this.path(name), "utf8");
  }
}
