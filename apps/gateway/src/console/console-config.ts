/** An issuer where people sign in: with a browser by its id, and in the command line by device flow at its address. */
export interface SignInIssuer {
  readonly id: string;
  readonly name: string;
  /** Absent: the command line has no client there. */
  readonly device?: { readonly issuer: string; readonly clientId: string; readonly scopes: readonly string[] };
}

/** What GET /console/config tells an unauthenticated client (contract console.md §6); it holds no secret. */
export interface ConsoleConfig {
  readonly version: string;
  readonly signIn: { readonly password: boolean; readonly issuers: readonly SignInIssuer[] };
  /** The address of this installation as the client sees it. */
  readonly publicUrl: string;
  readonly features: Readonly<Record<"events" | "insights" | "uploads" | "webhooks", boolean>>;
}

/** What this release has; a console that is newer than its server hides what is missing. */
export const features: ConsoleConfig["features"] = { events: true, insights: true, uploads: true, webhooks: true };
