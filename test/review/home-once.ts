/** Brings the worktree THERE home, once: the work trees HERE and THERE are its arguments. */
import { WorktreeEndpoint } from "../../src/worktrees/endpoint";

const [root, path] = process.argv.slice(2) as [string, string];
await new WorktreeEndpoint().answer("home", { root, path });
