import { commitKept } from "../../src/review/commit/commit";
import { ReviewedProject } from "../../src/review/state/reviewed-project";

/* Commits what is kept in the project of the first argument; a hook may kill this process. */
const [root = "", editor = ""] = process.argv.slice(2);
process.env.COMMITTER_PID = String(process.pid);
const project = new ReviewedProject(root);
await project.catchUp();
await commitKept(project, { draft: false, texts: new Map() }, editor);
