/** How a device that was added connects. */
export const connect = {
  title: (id: string) => `How ${id} connects`,
  text: "The device asks this address for its updates, and says who it is with its token.",
  address: "Address",
  server: "Server",
  tenant: "Tenant",
  token: "Token",
  tokenHidden: "You may not see it: that needs READ_TARGET_SECURITY_TOKEN.",
  copyToken: "Copy the token",
  example: "A first poll by hand, in a shell",
  exampleText:
    "The copied command holds the token where you may see it. Where it answers 401, the page of the device says what is lacking.",
  simulated: "Without a device: simulated ones",
  done: "To the device",
};
