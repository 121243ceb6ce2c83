/** The values of macros by upper-case name, without the `${}`. */
export type Macros = Readonly<Record<string, string | number>>;

/**
 * Replaces `${NAME}` (any case) by its value; an unknown macro stays as it is, and `$${NAME}` is the literal `${NAME}` (contract management.md
 * §6.3).
 */
export function expandMacros(text: string, macros: Macros): string {
  if (!text.includes("${")) return text;
  return text.replace(/\$?\$\{([^}]*)\}/g, (whole, name: string) => {
    const key = name.toUpperCase();
    if (!Object.hasOwn(macros, key)) return whole;
    return whole.startsWith("$$") ? whole.slice(1) : String(macros[key]);
  });
}
