export const login = {
  title: "Sign in",
  lead: "Updates for every device you run.",
  user: "User name",
  userHint: "Another tenant's users sign in as TENANT\\user.",
  password: "Password",
  button: "Sign in",
  busy: "Signing in …",
  with: (name: string) => `Sign in with ${name}`,
  or: "or",
  wrong: "User name or password is wrong.",
  wait: (seconds: number) => `Too many attempts. Try again in ${seconds} s.`,
  plain: "This connection is not encrypted: the password can be read on its way.",
};
