import { rmSync } from "node:fs";
import { temporaryFolder } from "./neovim";

/** Lets what the executable records go into a folder of its own; call the result at the end. */
export function ownState(): () => void {
  const before = process.env.XDG_STATE_HOME;
  const folder = temporaryFolder();
  process.env.XDG_STATE_HOME = folder;
  return () => {
    if (before === undefined) delete process.env.XDG_STATE_HOME;
    else process.env.XDG_STATE_HOME = before;
    rmSync(folder, { recursive: true, force: true });
  };
}
