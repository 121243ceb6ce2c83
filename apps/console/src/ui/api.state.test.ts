import { expect, test } from "vitest";
import { commands } from "../text/en/commands.ts";
import { commandLine, curlOf, shellWord } from "./api.state.ts";

test("a word that a shell would take for something else stands in quotes", () => {
  expect(["rollout", "name:1.0", "a b", "controllerid==x;active==true", "it's", "$(rm)", "-x", ""].map(shellWord)).toEqual([
    "rollout",
    "name:1.0",
    "'a b'",
    "'controllerid==x;active==true'",
    "'it'\\''s'",
    "'$(rm)'",
    "'-x'",
    "''",
  ]);
});

test("a name that begins as an option does is none to the command line", () => {
  expect(commands.of("target", "get", "--server=http://evil")).toBe("harrier target get -- '--server=http://evil'");
  expect(commands.of("target", "get", "a-b")).toBe("harrier target get a-b");
});

test("an option without a value is left out", () => {
  expect(commandLine(["harrier", "target", "list", ["-q", undefined], ["--sort", "id:ASC"]])).toBe("harrier target list --sort id:ASC");
});

test("curl signs in as whoever is signed in", () => {
  expect(curlOf("https://host/api/mgmt/v1/targets?q=name%3D%3Da&limit=50", { tenant: "DEFAULT", username: "admin" })).toBe(
    "curl -sS -u 'DEFAULT\\admin' 'https://host/api/mgmt/v1/targets?q=name%3D%3Da&limit=50'",
  );
});
