/**
 * Says that the test (or `describe`) around it proves a claim of SECURITY.md, named by its bold text.
 * scripts/claims.ts reads these calls; at run time they do nothing.
 */
export function claims(_claim: string): void {}
