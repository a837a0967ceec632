//! A simulated Personal Agent: discovery, Sessions, journeys, the User's approval, recovery, defects.
