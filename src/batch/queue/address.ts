/** For the command line, which may not import the queue directly. */
export { queueAddress, type QueueAddress } from '../../fleet/address.js';
