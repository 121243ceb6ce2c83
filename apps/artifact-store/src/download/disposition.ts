const latin1 = /^[\x20-\x7e\xa0-\xff]*$/;
const special = /[()<>@,;:\\"/[\]?=]/;
const maxName = 78;

/** Returns `attachment;filename=<name>`, or undefined for a name that no header can carry (contract device.md §6.2). */
export function contentDisposition(filename: string): string | undefined {
  if (!latin1.test(filename)) return undefined;
  const name = filename.slice(0, maxName);
  return `attachment;filename=${special.test(name) ? `"${name.replace(/[\\"]/g, "\\$&")}"` : name}`;
}
