import { rmSync } from "node:fs";
import { lacks, perTest } from "#test";
import { git } from "../repository";
import { play, stories } from "../story";
import { World } from "./world";

/* An undo of changes that Claude has staged in git's index. */

const SEVEN = "1 2 3 4 5 6 7";
const EDIT = "1 2 3 4 5 6 VII";
const EDITS = "I 2 3 4 5 6 VII";
const STATUS = "git status --porcelain --untracked-files=all";
const world = perTest(() => new World());

test.each(["sha1", "sha256"])(
  "restores the index before the first commit, with %s objects",
  async (format) => {
    await play(world, `repository a=${SEVEN}`);
    rmSync(world.path(".git"), { recursive: true });
    git(world.root, "init", "-q", `--object-format=${format}`);
    await play(
      world,
      `A git new=new; stop; ${STATUS} => A  a|A  new; undo new; ${STATUS} => A  a
     back; ${STATUS} => A  a|A  new; git show :new => new`,
    );
  },
);

stories(
  `repository a=${SEVEN}, other=${SEVEN}`,
  `
# restores the index after [git mv|git rm|git add of an edited file|git add of a new file|git add of an empty file], and again when the undo is taken back
  prompt; A git [-a, b=${SEVEN} < a|-a|a=${EDIT}|new ü=new|empty=]; stop; later
  ${STATUS} => [R  a -> b|D  a|M  a|A  "new \\303\\274"|A  empty]
  is [b renamed 0>7@1|a deleted 7>0@0|a changed 1>1@7|new ü created 0>1@1|empty created]
  undo [b|a|a|new ü|empty]; is nothing; ${STATUS} => ; restart; is nothing; back
  ${STATUS} => [R  a -> b|D  a|M  a|A  "new \\303\\274"|A  empty]
  is [b renamed 0>7@1|a deleted 7>0@0|a changed 1>1@7|new ü created 0>1@1|empty created]
# keeps a file's other hunks in the index when one is undone
  prompt; A git a=${EDITS}; stop; later; is a changed 1>1@1 1>1@7; undo a#1
  git show :a => 1|2|3|4|5|6|VII; is a changed 1>1@7; later; back
  git show :a => I|2|3|4|5|6|VII; is a changed 1>1@1 1>1@7
# leaves an entry alone that the user staged earlier, or without Claude's lines
  user a=mine 2 3 4 5 6 7; git add a; prompt; A a=mine 2 3 4 5 6 VII; undo a
  git status --porcelain => M  a; git show :a => mine|2|3|4|5|6|7
# leaves a locked index alone, and says so
  prompt; A git a=${EDITS}; user .git/index.lock=; undo a: it stays in the index
  git show :a => I|2|3|4|5|6|VII; disk a=${SEVEN}
# leaves an entry alone that someone has changed since, and says so
  prompt; A git a=${EDITS}; user a=0 ${EDITS}; git add a; user a=${EDITS}
  undo a: it stays in the index; git show :a => 0|I|2|3|4|5|6|VII; disk a=${SEVEN}
`,
);

if (!lacks("modes of files")) {
  stories(
    `repository a=${SEVEN}, other=${SEVEN}`,
    `
# restores the index for binary files and permissions
  git config core.fileMode true; prompt; A chmod other 755; A git b.bin=\0one, a=\0two
  ${STATUS} => M  a|A  b.bin|M  other; undo a, b.bin, other; ${STATUS} =>
`,
  );
}
