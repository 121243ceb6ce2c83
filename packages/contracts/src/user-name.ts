import { requiredName } from "./values.ts";

/** Ids of OAuth 2.0 clients begin like this: a user of such a name would be taken for one. */
const reservedPrefix = "oc_";

/** Scripts with letters that look like those of another one; of these a name has one at most. */
const lookAlikes = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);

/**
 * What is not seen, or changes how the rest is read: control and format characters (zero width, direction of writing), private and unassigned ones,
 * and every blank but the plain one.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** Others give the combined and the compatible form of a character for the same name; NFKC is the one of both. */
const isNormal = (name: string): boolean => name.normalize("NFKC") === name;

const isOfOneScript = (name: string): boolean => lookAlikes.filter((script) => script.test(name)).length <= 1;

/**
 * The name of a user that is to be created: nobody can take it for another one in a list or in the audit trail. It stands in Basic credentials, behind
 * its tenant. Users that exist are looked up as they are.
 */
export const newUserName = requiredName(128)
  .refine((name) => !/[\\:]/.test(name) && !unseen.test(name), "must not contain a colon, a backslash or a character that is not seen")
  .refine(isNormal, "must be in Unicode's normal form NFKC")
  .refine(isOfOneScript, "must not mix letters of scripts that look alike")
  .refine((name) => !name.toLowerCase().startsWith(reservedPrefix), `must not begin with ${reservedPrefix}`);
