import { Operation, type StoredFile } from "./operation";
import type { FileChange } from "./virtual-files";

/** One operation in the place of two that followed each other: one undo takes both back. */
export function join(first: Operation, second: Operation): Operation {
  const files = new Map<string, { file: StoredFile; change: FileChange }>();
  for (const operation of [first, second]) {
    for (const [index, { path, before, after, size, from }] of operation.stored.files.entries()) {
      const known = files.get(path);
      if (known) known.file.after = after;
      else {
        files.set(path, {
          file: { path, before, after, size, ...(from !== undefined && { from }) },
          change: { path, before: operation.before(index), after: undefined, edits: 0 },
        });
      }
    }
  }
  const all = [...files.values()];
  const joined = Operation.begin(
    { label: first.stored.label, place: first.stored.place },
    all.map(({ change }) => change),
    {
      files: all.map(({ file }) => file),
      folders: [...first.stored.folders, ...second.stored.folders],
    },
  );
  joined.claim();
  joined.markDone();
  second.forget();
  first.forget();
  return joined;
}

/** The same of what they changed. */
export function joinChanges(
  first: readonly FileChange[],
  second: readonly FileChange[],
): FileChange[] {
  const changes = new Map(first.map((change) => [change.path, { ...change }]));
  for (const change of second) {
    const known = changes.get(change.path);
    if (known) Object.assign(known, { after: change.after, edits: known.edits + change.edits });
    else changes.set(change.path, { ...change });
  }
  return [...changes.values()];
}
