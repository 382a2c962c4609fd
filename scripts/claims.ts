/**
 * Ties SECURITY.md to the tests: `bun scripts/claims.ts` prints each claim with the tests that prove it, then what is
 * missing, and exits 1 if anything is. A claim is a list item that begins in bold. A test proves it by calling
 * `claims("…")` with the bold text (test/support/claims.ts).
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Glob } from "bun";
import ts from "typescript";

const ROOT = dirname(import.meta.dir);

export interface Proof {
  claim: string;
  file: string;
  /** The title of the test, or group of tests, around the call. */
  test: string | undefined;
  /** The test is part of every run, not only of the nightly one. */
  always: boolean;
}

if (import.meta.main) {
  const [listed, proofs] = [claimsOf(readFileSync(join(ROOT, "SECURITY.md"), "utf8")), proofsIn()];
  for (const claim of listed) {
    console.log(claim);
    for (const { file, test } of proofs.filter((proof) => proof.claim === claim))
      console.log(`  ${file}: ${test}`);
  }
  const problems = problemsOf(listed, proofs);
  for (const problem of problems) console.error(problem);
  process.exit(problems.length > 0 ? 1 : 0);
}

export function claimsOf(page: string): string[] {
  return [...page.matchAll(/^- \*\*(.+?)\.\*\*/gm)].map(([, claim = ""]) => claim);
}

/** The calls of `claims` in all tests. */
export function proofsIn(root = ROOT): Proof[] {
  const files = [...new Glob("test/**/*.test.ts").scanSync({ cwd: root })].sort();
  return files.flatMap((file) => proofsOf(file, readFileSync(join(root, file), "utf8")));
}

export function proofsOf(file: string, text: string): Proof[] {
  if (!text.includes("claims(")) return [];
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: Proof[] = [];
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === "claims") {
      const [claim] = node.arguments;
      const around = callsAround(node);
      found.push({
        claim: claim && ts.isStringLiteralLike(claim) ? claim.text : node.getText(),
        file,
        test: around.map(titleOf).find((title) => title !== undefined),
        always:
          !file.endsWith(".all.test.ts") &&
          !around.some((call) => call.expression.getText().startsWith("nightly.")),
      });
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The calls whose functions contain a node, the nearest first. */
function callsAround(node: ts.Node): ts.CallExpression[] {
  const calls: ts.CallExpression[] = [];
  for (let at = node.parent; at; at = at.parent) if (ts.isCallExpression(at)) calls.push(at);
  return calls;
}

/** The title, if the call is one of `test` or `describe` in any of their forms. */
function titleOf(call: ts.CallExpression): string | undefined {
  if (!/^((nightly\.)?(test|describe)\b|needs\()/.test(call.expression.getText())) return undefined;
  const [title] = call.arguments;
  return title?.getText().slice(1, -1);
}

export function problemsOf(listed: string[], proofs: Proof[]): string[] {
  return [
    ...listed
      .filter((claim) => !proofs.some((proof) => proof.claim === claim && proof.always))
      .map((claim) => `SECURITY.md: no test of every run proves: ${claim}`),
    ...proofs
      .filter(({ claim }) => !listed.includes(claim))
      .map(({ claim, file }) => `${file}: SECURITY.md does not claim: ${claim}`),
    ...proofs
      .filter(({ test }) => test === undefined)
      .map(({ claim, file }) => `${file}: outside of any test: ${claim}`),
    ...proofs
      .filter(({ always }) => !always)
      .map(({ claim, file, test }) => `${file}: does not run each time: ${test} (${claim})`),
  ];
}
