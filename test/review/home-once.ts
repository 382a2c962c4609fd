/** Brings the worktree THERE home, once: the work trees HERE and THERE are its arguments. */
import { worktreeRequests } from "../../src/worktrees/endpoint";

const [root, path] = process.argv.slice(2) as [string, string];
await worktreeRequests.home({ root, path });
