import { useQuery } from "@tanstack/react-query";
import { me } from "./session.ts";

interface Guarded {
  readonly permission: readonly string[];
}

/** The permissions that the caller lacks for these operations, in their order. */
export function lacking(held: readonly string[], rows: readonly Guarded[]): string[] {
  return [...new Set(rows.flatMap((row) => row.permission))].filter((name) => !held.includes(name));
}

/** Answers which permission is missing for an operation, or undefined if the signed-in user may call it. The server judges each call itself. */
export function useLacking(...rows: Guarded[]): string | undefined {
  const { data } = useQuery(me);
  return data === undefined ? undefined : lacking(data.permissions ?? [], rows)[0];
}
