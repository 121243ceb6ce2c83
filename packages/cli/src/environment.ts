/** The settings of the command line (contract console.md §5); this is the only file that reads the environment. */
export const environment = {
  server: process.env["HARRIER_SERVER"] || undefined,
  context: process.env["HARRIER_CONTEXT"] || undefined,
  token: process.env["HARRIER_TOKEN"] || undefined,
  clientId: process.env["HARRIER_CLIENT_ID"],
  clientSecret: process.env["HARRIER_CLIENT_SECRET"],
  user: process.env["HARRIER_USER"],
  password: process.env["HARRIER_PASSWORD"],
  term: process.env["TERM"],
  configHome: process.env["XDG_CONFIG_HOME"],
  stateHome: process.env["XDG_STATE_HOME"],
  cacheHome: process.env["XDG_CACHE_HOME"],
  /** Where `npm start` of a checkout listens, and keeps its data. */
  httpPort: process.env["HARRIER_HTTP_PORT"],
  dataDir: process.env["HARRIER_DATA_DIR"],
  home: process.env["HOME"] ?? process.env["USERPROFILE"] ?? ".",
  /** The whole environment with more, for a program that is started. */
  withAll: (more: Readonly<Record<string, string>>): NodeJS.ProcessEnv => ({ ...process.env, ...more }),
};

/** Reads a variable that a context names (`token-env`). */
export function variable(name: string): string | undefined {
  return process.env[name];
}
