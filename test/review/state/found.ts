import type { Change } from "./play";

type Act = typeof Change extends import("fast-check").Arbitrary<infer T> ? T : never;

/** What once failed, as the properties found it: a start and what then happened. */
export const FOUND: [[string | undefined, Act[]]][] = [
  [
    [
      "s1\n\u00ff\ns3",
      [
        { do: "program", file: 0, at: 2, deletes: 2, inserts: 0 },
        { do: "diff", session: "B", removes: false, file: 0, at: 2, deletes: 0, inserts: 1 },
        {
          do: "Write",
          session: "A",
          agent: "agent",
          formatter: false,
          file: 1,
          at: 4,
          deletes: 1,
          inserts: 0,
        },
        { do: "restart", file: 1 },
        { do: "diff", session: "B", removes: false, file: 0, at: 0, deletes: 2, inserts: 2 },
        {
          do: "Write",
          session: "B",
          agent: "agent",
          formatter: true,
          file: 0,
          at: 5,
          deletes: 1,
          inserts: 0,
        },
      ],
    ],
  ],
  [
    [
      "s1\n\u00ff\ns3",
      [
        { do: "goes on", session: "A" },
        { do: "turn", session: "A" },
        { do: "neovim", file: 0, at: 0, deletes: 0, inserts: 2 },
        { do: "failed", session: "A", removes: false, file: 0, at: 1, deletes: 1, inserts: 1 },
        { do: "mcp", session: "B", removes: true, file: 0, at: 0, deletes: 1, inserts: 2 },
      ],
    ],
  ],
  [
    [
      undefined,
      [
        { do: "stop", session: "A" },
        { do: "stop", session: "B" },
        { do: "neovim", file: 1, at: 6, deletes: 0, inserts: 2 },
        { do: "failed", session: "A", removes: true, file: 0, at: 3, deletes: 2, inserts: 1 },
        { do: "formatted", file: 0, at: 1, deletes: 0, inserts: 1 },
        {
          do: "Write",
          session: "A",
          agent: "agent",
          formatter: true,
          file: 0,
          at: 1,
          deletes: 0,
          inserts: 1,
        },
        { do: "formatted", file: 0, at: 1, deletes: 1, inserts: 1 },
        { do: "neovim", file: 0, at: 0, deletes: 0, inserts: 0 },
        { do: "diff", session: "A", removes: false, file: 1, at: 2, deletes: 0, inserts: 2 },
      ],
    ],
  ],
  [
    [
      "s1\n\u00ff\ns3",
      [
        { do: "interrupted", session: "A", removes: true, file: 1, at: 1, deletes: 1, inserts: 1 },
        {
          do: "NotebookEdit",
          session: "B",
          agent: "agent",
          formatter: false,
          file: 1,
          at: 6,
          deletes: 2,
          inserts: 2,
        },
      ],
    ],
  ],
  [
    [
      "s1\n\u00ff\ns3\n",
      [
        { do: "diff", session: "B", removes: false, file: 1, at: 4, deletes: 2, inserts: 2 },
        {
          do: "Edit",
          session: "B",
          agent: "agent",
          formatter: true,
          file: 1,
          at: 5,
          deletes: 2,
          inserts: 0,
        },
        { do: "rewind", file: 1 },
        { do: "silent", session: "B", removes: false, file: 1, at: 6, deletes: 0, inserts: 2 },
        {
          do: "Write",
          session: "A",
          formatter: false,
          file: 0,
          at: 2,
          deletes: 2,
          inserts: 2,
          agent: undefined,
        },
        { do: "diff", session: "A", removes: true, file: 0, at: 4, deletes: 1, inserts: 1 },
        { do: "program", file: 0, at: 4, deletes: 1, inserts: 2 },
        {
          do: "Edit",
          session: "A",
          agent: "agent",
          formatter: false,
          file: 0,
          at: 1,
          deletes: 1,
          inserts: 0,
        },
        { do: "interrupted", session: "A", removes: false, file: 1, at: 6, deletes: 2, inserts: 2 },
      ],
    ],
  ],
  [
    [
      "s1\ns2\ns3\n",
      [
        { do: "mcp", session: "A", removes: true, file: 1, at: 1, deletes: 2, inserts: 1 },
        { do: "restart", file: 1 },
        {
          do: "Edit",
          session: "B",
          agent: "agent",
          formatter: true,
          file: 1,
          at: 2,
          deletes: 1,
          inserts: 2,
        },
        { do: "failed", session: "A", removes: true, file: 1, at: 5, deletes: 1, inserts: 2 },
        {
          do: "Edit",
          session: "B",
          agent: "agent",
          formatter: false,
          file: 1,
          at: 0,
          deletes: 1,
          inserts: 1,
        },
        { do: "checkout", file: 0 },
        {
          do: "Write",
          session: "B",
          agent: "agent",
          formatter: true,
          file: 0,
          at: 6,
          deletes: 1,
          inserts: 0,
        },
        {
          do: "Write",
          session: "A",
          agent: "agent",
          formatter: false,
          file: 0,
          at: 1,
          deletes: 2,
          inserts: 2,
        },
        { do: "interrupted", session: "B", removes: true, file: 1, at: 4, deletes: 0, inserts: 0 },
        { do: "goes on", session: "A" },
      ],
    ],
  ],
  [
    [
      "s1\ns2\n",
      [
        { do: "cut", session: "A", removes: true, file: 0, at: 0, deletes: 1, inserts: 1 },
        { do: "silent", session: "B", removes: false, file: 0, at: 2, deletes: 1, inserts: 1 },
        { do: "checkout", file: 0 },
      ],
    ],
  ],
];
