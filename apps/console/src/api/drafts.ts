/** Whose a draft is. */
interface Owner {
  readonly tenant: string;
  readonly username: string;
}

const start = "harrier-draft ";

/** The place of a draft in the storage of this tab or browser: what one has written, nobody sees who signs in later. */
export const draftKey = (what: string, { tenant, username }: Owner): string => `${start}${what} ${tenant}\\${username}`;

/** Forgets the drafts of everybody else, of all without an owner. A session that ends by itself leaves its drafts to the same user. */
export function forgetDrafts(but?: Owner): void {
  const mine = but && ` ${but.tenant}\\${but.username}`;
  for (const storage of [sessionStorage, localStorage])
    for (const key of Object.keys(storage))
      if (key.startsWith(start) && (mine === undefined || !key.endsWith(mine))) storage.removeItem(key);
}
