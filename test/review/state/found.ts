import type { Change } from "./play";

type Act = typeof Change extends import("fast-check").Arbitrary<infer T> ? T : never;

/** The defaults of an act; some have no meaning for some acts. */
const USUAL = {
  deletes: 0,
  inserts: 0,
  removes: false,
  seen: "never",
  formatter: false,
  edits: false,
};

/** An act is a line: what it does, and what is unusual about it. */
function found(start: string | undefined) {
  return ([acts = ""]: TemplateStringsArray): [[string | undefined, Act[]]] => [
    [start, acts.trim().split("\n").map(actOf)],
  ];
}

function actOf(line: string): Act {
  const [, what, rest = ""] = /^\s*(.*?)((?: \w+=\S+)*)$/.exec(line) ?? [];
  const given = rest
    .split(" ")
    .filter(Boolean)
    .map((one) => one.split("=") as [string, string]);
  const values = given.map(([key, value]) => [
    key,
    /^\d+$|^(true|false)$/.test(value) ? JSON.parse(value) : value,
  ]);
  return { do: what, ...USUAL, ...Object.fromEntries(values) } as Act;
}

/** Cases that once failed, as the properties found them: a start, and then one act per line. */
export const FOUND: [[string | undefined, Act[]]][] = [
  found("s1\n\u00ff\ns3")`
    program file=0 at=2 deletes=2
    diff session=B file=0 at=2 inserts=1
    Write session=A agent=agent file=1 at=4 deletes=1
    restart file=1
    diff session=B file=0 at=0 deletes=2 inserts=2
    Write session=B agent=agent formatter=true file=0 at=5 deletes=1`,
  found("s1\n\u00ff\ns3")`
    goes on session=A
    turn session=A
    neovim file=0 at=0 inserts=2
    failed session=A file=0 at=1 deletes=1 inserts=1
    mcp session=B removes=true file=0 at=0 deletes=1 inserts=2`,
  found(undefined)`
    stop session=A
    stop session=B
    neovim file=1 at=6 inserts=2
    failed session=A removes=true file=0 at=3 deletes=2 inserts=1
    formatted file=0 at=1 inserts=1
    Write session=A agent=agent formatter=true file=0 at=1 inserts=1
    formatted file=0 at=1 deletes=1 inserts=1
    neovim file=0 at=0
    diff session=A file=1 at=2 inserts=2`,
  found("s1\n\u00ff\ns3")`
    interrupted session=A removes=true file=1 at=1 deletes=1 inserts=1
    NotebookEdit session=B agent=agent file=1 at=6 deletes=2 inserts=2`,
  found("s1\n\u00ff\ns3\n")`
    diff session=B file=1 at=4 deletes=2 inserts=2
    Edit session=B agent=agent formatter=true file=1 at=5 deletes=2
    rewind file=1
    silent session=B file=1 at=6 inserts=2
    Write session=A file=0 at=2 deletes=2 inserts=2
    diff session=A removes=true file=0 at=4 deletes=1 inserts=1
    program file=0 at=4 deletes=1 inserts=2
    Edit session=A agent=agent file=0 at=1 deletes=1
    interrupted session=A file=1 at=6 deletes=2 inserts=2`,
  found("s1\ns2\ns3\n")`
    mcp session=A removes=true file=1 at=1 deletes=2 inserts=1
    restart file=1
    Edit session=B agent=agent formatter=true file=1 at=2 deletes=1 inserts=2
    failed session=A removes=true file=1 at=5 deletes=1 inserts=2
    Edit session=B agent=agent file=1 at=0 deletes=1 inserts=1
    checkout file=0
    Write session=B agent=agent formatter=true file=0 at=6 deletes=1
    Write session=A agent=agent file=0 at=1 deletes=2 inserts=2
    interrupted session=B removes=true file=1 at=4
    goes on session=A`,
  found("s1\ns2\n")`
    cut session=A removes=true file=0 at=0 deletes=1 inserts=1
    silent session=B file=0 at=2 deletes=1 inserts=1
    checkout file=0`,
  found("")`
    diff session=A removes=true file=1 at=0
    Edit session=A file=1 at=0
    neovim file=1 at=0 inserts=1
    rewind file=1`,
  found(undefined)`
    diff session=A file=0 at=0
    neovim file=0 at=0 inserts=1
    interrupted session=A removes=true file=0 at=0
    Edit session=A file=0 at=0`,
  found("")`
    cut session=A seen=between file=0 at=0 inserts=1`,
  found("")`
    neovim file=0 at=0 inserts=1
    cut session=B file=0 at=0 inserts=1`,
  found(undefined)`
    diff session=B file=0 at=0 inserts=1
    silent session=A file=0 at=0 deletes=1
    discard file=0`,
  found(undefined)`
    diff session=A file=0 at=0
    neovim file=0 at=0 inserts=1
    discard file=0
    turn session=B`,
  found("")`
    background session=A file=0 at=0
    goes on session=A
    turn session=A
    program file=0 at=0 inserts=1`,
  found(undefined)`
    neovim file=2 at=0 inserts=1
    diff session=A removes=true seen=before file=2 at=0
    Edit session=B file=2 at=0 inserts=1
    stop session=B
    rewind file=2
    Edit session=A file=2 at=0 inserts=1`,
];
