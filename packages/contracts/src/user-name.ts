import { requiredName } from "./values.ts";

/** Ids of OAuth 2.0 clients begin with this, so a user with such a name could be mistaken for one. */
const reservedPrefix = "oc_";

/** The letters of these scripts look like those of another one, so a name uses at most one of them. */
const lookAlikes = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee", "Coptic"].map(
  (script) => new RegExp(`\\p{Script=${script}}`, "u"),
);

/**
 * These characters are invisible, or change how the rest is read: control and format characters (zero width, direction of writing), private and
 * unassigned ones, and every blank but the plain one.
 */
const unseen = /[\p{Cc}\p{Cf}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

/** Systems differ in the form of combined and compatible characters in the same name; NFKC is one form for all. */
const isNormal = (name: string): boolean => name.normalize("NFKC") === name;

const isOfOneScript = (name: string): boolean => lookAlikes.filter((script) => script.test(name)).length <= 1;

/**
 * The name of a user to create: nobody can mistake it for another one in a list or in the audit trail. Basic credentials contain it, behind its
 * tenant. Existing users are looked up by their exact name.
 */
export const newUserName = requiredName(128)
  .refine((name) => !/[\\:]/.test(name) && !unseen.test(name), "must not contain a colon, a backslash or a character that is not seen")
  .refine(isNormal, "must be in Unicode's normal form NFKC")
  .refine(isOfOneScript, "must not mix letters of scripts that look alike")
  .refine((name) => !name.toLowerCase().startsWith(reservedPrefix), `must not begin with ${reservedPrefix}`);
